/** Why a group is where it is, for people. */
import { CANCEL_UNSIGNED } from "../rollout/explain.ts";
import type { Why } from "../rollout/rows.ts";
import type { RolloutStatus } from "../rollout/states.ts";
import { isGroupActive, type GroupStatus } from "./states.ts";

export interface ExplainedGroup {
  readonly id: string;
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
  const unsigned = group.components.filter(({ why }) => why?.code === CANCEL_UNSIGNED);
  if (unsigned.length > 0 && !isGroupActive(group.status)) return unsignedCancel(group, unsigned.length);
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

function unsignedCancel({ id, status, why }: ExplainedGroup, components: number): Why {
  const command = `fairlead group cancel ${id.slice(0, 8)} --sign`;
  const ended = why === null ? status : why.text;
  const text = `${ended}; the signed intents of ${components} components are still valid: call them off with \`${command}\``;
  return { code: CANCEL_UNSIGNED, text };
}
