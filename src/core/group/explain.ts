/** Why a group is where it is, for people. */
import type { Why } from "../rollout/rows.ts";
import type { RolloutStatus } from "../rollout/states.ts";
import type { GroupStatus } from "./states.ts";

export interface ExplainedGroup {
  readonly status: GroupStatus;
  readonly why: Why | null;
  readonly currentComponent: number;
  readonly gateUntil: string | null;
  readonly components: readonly {
    readonly name: string;
    readonly status: RolloutStatus;
    readonly why: Why | null;
  }[];
}

export function explainGroup(group: ExplainedGroup): Why | null {
  if (group.why !== null) return group.why;
  if (group.status === "pending") return { code: "NOT_STARTED", text: "created; start it when ready" };
  if (group.status !== "running") return null;
  const component = group.components[group.currentComponent];
  if (component === undefined) return { code: "ENDING", text: "the last component comes to its end" };
  const which = `component ${group.currentComponent + 1} of ${group.components.length} (${component.name})`;
  if (group.gateUntil !== null)
    return {
      code: "WATCHING_COMPONENT",
      text: `${which} is complete; its nodes are watched until ${group.gateUntil}`,
    };
  const state = component.why === null ? component.status : component.why.text;
  return { code: component.why?.code ?? "UPGRADING", text: `${which}: ${state}` };
}
