/** When a rollout wants to be looked at again, should nothing else happen. */
import { LIMITS } from "../limits.ts";
import type { DraftNode, DraftRollout } from "./draft.ts";
import type { QuietNodes, RolloutRow } from "./rows.ts";

/** A node that was never heard of has not begun when its command is over. */
export const UNHEARD_MS = LIMITS.commandLifetimeMs + 60_000;
/** One that was heard of may have begun as late as that, and then has deadlines of its own. */
const AT_WORK_MS = UNHEARD_MS + LIMITS.scheduleToCloseMs + LIMITS.compensationBudgetMs;

/** When a node without a verdict has failed. */
export const givenUpAt = (node: DraftNode, now: number): number =>
  (node.launchedAt ?? now) + (node.actionName === null ? UNHEARD_MS : AT_WORK_MS);

/** The canary is observed for twice as long as any other batch (ROLL-12). */
export const waitOf = ({ strategy, currentBatch, healthWaitMs }: RolloutRow): number =>
  strategy === "canary" && currentBatch === 0 ? 2 * healthWaitMs : healthWaitMs;

/**
 * When the health of an installed node is judged: with its batch, whose wait begins with the last node. One that goes
 * back is on its own: its neighbours may have been judged long ago. Null while the batch is still being installed.
 */
export function healthDueAt(rollout: RolloutRow, node: DraftNode, now: number): number | null {
  if (node.direction === "forward") return rollout.healthUntil;
  return (node.installedAt ?? now) + rollout.healthWaitMs;
}

/** `wasDue`: the batch's wait was over before this step. */
export function wakeAt(
  rollout: DraftRollout,
  nodes: readonly DraftNode[],
  quiet: QuietNodes,
  wasDue: boolean,
  now: number,
): number | null {
  const times = [...timesOfNodes(rollout, nodes, now), ...timesOfQuiet(rollout, quiet, wasDue, now)];
  return times.length === 0 ? null : Math.max(Math.min(...times), now + 1);
}

/** A look too early finds nobody, and then knows each node's own time. */
function timesOfQuiet(
  { healthUntil }: DraftRollout,
  { launchedAt, verifying }: QuietNodes,
  wasDue: boolean,
  now: number,
): number[] {
  return [
    ...(launchedAt === null ? [] : [launchedAt + UNHEARD_MS]),
    ...(verifying === 0 || healthUntil === null ? [] : [wasDue ? now + LIMITS.healthRecheckMs : healthUntil]),
  ];
}

function timesOfNodes(rollout: DraftRollout, nodes: readonly DraftNode[], now: number): number[] {
  return nodes.flatMap((node) => {
    if (node.status !== "in_progress") return [];
    if (node.phase !== "VERIFYING") return [givenUpAt(node, now)];
    const due = healthDueAt(rollout, node, now);
    if (due === null) return [];
    // Past the wait only a heartbeat is missing: look again soon, for it comes without a nudge.
    return [now < due ? due : now + LIMITS.healthRecheckMs];
  });
}
