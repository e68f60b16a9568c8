/** Whether a signal may be given to a group now, beyond what the table of states says. */
import type { Refusal } from "../rollout/allow.ts";
import { canGoBack, hasEnded } from "./components.ts";
import type { ComponentRow, GroupRow } from "./rows.ts";
import { stepGroup, type GroupSignalKind } from "./states.ts";

export type GroupFacts = Pick<
  GroupRow,
  "status" | "pauseRequested" | "cancelRequested" | "failedComponent" | "why"
>;

const illegal = (text: string): Refusal => ({ code: "ILLEGAL_TRANSITION", text });

/** Null: it may. */
export function groupRefusalOf(
  group: GroupFacts,
  components: readonly ComponentRow[],
  kind: GroupSignalKind,
): Refusal | null {
  if (kind === "resume" && group.status === "running" && group.pauseRequested) return null;
  if (stepGroup(group.status, kind) === undefined)
    return illegal(`a ${group.status} group cannot be asked to ${kind}`);
  const failed = group.failedComponent === null ? undefined : components[group.failedComponent];
  switch (kind) {
    case "pause":
      return group.cancelRequested ? illegal("a cancel was asked for; nodes at work finish first") : null;
    case "cancel":
      return group.cancelRequested ? illegal("a cancel was asked for already") : null;
    case "resume":
      // One that completed and did not keep well is watched again.
      return failed !== undefined && hasEnded(failed) && failed.status !== "completed"
        ? illegal("the failed component has ended: skip it, roll back or cancel")
        : null;
    case "skip":
      return failed === undefined ? illegal("no component of this group has failed") : null;
    case "rollback":
      return rollbackRefusal(group, components);
    default:
      return null;
  }
}

function rollbackRefusal({ status }: GroupFacts, components: readonly ComponentRow[]): Refusal | null {
  if (!components.some(({ rollbackAllowed }) => rollbackAllowed))
    return { code: "ROLLBACK_REFUSED", text: "the signed intents allow no rollback" };
  if (status !== "rolled_back" || components.some(canGoBack)) return null;
  const unknown = components.reduce((sum, component) => sum + component.unknown, 0);
  return unknown > 0
    ? {
        code: "ROLLBACK_REFUSED",
        text: `${unknown} nodes have not said what they run: wait until they are heard of`,
      }
    : { code: "NOTHING_TO_ROLL_BACK", text: "no node of this group runs a version that it brought" };
}
