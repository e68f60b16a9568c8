/** Creation rules of a group (ROLL-3): rule 8 about the order of its components, rule 9 about what they must cover. */
import type { ErrorCode } from "../error-codes.ts";
import { FairleadError } from "../errors.ts";
import type { GroupCreate } from "../protocol/group-api.ts";
import { FailurePolicy } from "./states.ts";

/** What a component's manifest or request says of itself. */
export interface ComponentFacts {
  readonly binaryName: string;
  readonly targetVersion: string;
}

type Asked = Pick<GroupCreate, "failure_policy" | "desired_versions"> & {
  readonly component_order: readonly { readonly component_index: number; readonly binary_name: string }[];
};

/** Before any manifest is read. */
export function checkGroupShape(group: Asked): FailurePolicy {
  const order = group.component_order;
  const misplaced = order.findIndex((component, at) => component.component_index !== at);
  if (misplaced !== -1) {
    const { component_index: index } = order[misplaced]!;
    throw broken(8, "GROUP_ORDER_INVALID", `component_index ${index} stands at place ${misplaced}`);
  }
  const policy = FailurePolicy.safeParse(group.failure_policy);
  if (!policy.success)
    throw broken(
      9,
      "GROUP_POLICY_REQUIRED",
      group.failure_policy === ""
        ? "failure_policy is missing"
        : `${JSON.stringify(group.failure_policy)} is no failure_policy`,
    );
  if (Object.keys(group.desired_versions).length === 0)
    throw broken(9, "GROUP_VERSIONS_REQUIRED", "desired_versions is empty");
  const covered = new Set(order.map((component) => component.binary_name));
  const missing = Object.keys(group.desired_versions).filter((name) => !covered.has(name));
  if (missing.length > 0)
    throw broken(9, "GROUP_ORDER_INCOMPLETE", `no component is for ${missing.join(", ")}`);
  return policy.data;
}

/** Once each component's own manifest or fields are known. */
export function checkGroupComponents(group: Asked, facts: readonly ComponentFacts[]): void {
  for (const [at, { binary_name: name }] of group.component_order.entries()) {
    const { binaryName, targetVersion } = facts[at]!;
    if (binaryName !== name)
      throw broken(8, "GROUP_ORDER_INVALID", `component ${at} is for ${name}, its rollout for ${binaryName}`);
    const desired = Object.hasOwn(group.desired_versions, name) ? group.desired_versions[name] : undefined;
    if (desired !== targetVersion) {
      const wanted = desired === undefined ? "none is desired" : `${desired} is desired`;
      const message = `component ${at} leads ${name} to ${targetVersion}, ${wanted}`;
      throw broken(9, "GROUP_ORDER_INCOMPLETE", message);
    }
  }
}

const broken = (rule: number, code: ErrorCode, message: string): FairleadError =>
  new FairleadError(code, message, { rule });
