/** When a rollout wants to be looked at again, should nothing else happen. */
import { LIMITS } from "../limits.ts";
import type { DraftNode, DraftRollout } from "./draft.ts";
import type { QuietNodes, RolloutRow } from "./rows.ts";

/** A node that was never heard of has not begun when its command is over. */
export const UNHEARD_MS = LIMITS.commandLifetimeMs + 60_000;
/** One that was heard of may have begun as late as that, and then has deadlines of its own. */
const AT_WORK_MS = UNHEARD_MS + LIMITS.scheduleToCloseMs + LIMITS.compensationBudgetMs;

/** When a node without a verdict has failed. One whose verdict could not be stored gets the time to send it again. */
export const givenUpAt = (node: DraftNode, availableSince: number, now: number): number =>
  afterReconnect(
    (node.launchedAt ?? now) + (node.actionName === null ? UNHEARD_MS : AT_WORK_MS),
    availableSince,
  );

/** A deadline of a node, and not before agents have reconnected after an absence of the control plane. */
export const afterReconnect = (deadline: number, availableSince: number): number =>
  Math.max(deadline, availableSince + LIMITS.reconnectGraceMs);

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

interface Watched {
  readonly rollout: DraftRollout;
  readonly nodes: readonly DraftNode[];
  readonly quiet: QuietNodes;
  readonly availableSince: number;
  /** The batch's wait was over before this step. */
  readonly wasDue: boolean;
}

export function wakeAt(watched: Watched, now: number): number | null {
  const times = [...timesOfNodes(watched, now), ...timesOfQuiet(watched, now)];
  return times.length === 0 ? null : Math.max(Math.min(...times), now + 1);
}

/** A look too early finds nobody, and then knows each node's own time. */
function timesOfQuiet({ rollout, quiet, availableSince, wasDue }: Watched, now: number): number[] {
  const { healthUntil } = rollout;
  const { launchedAt, verifying } = quiet;
  return [
    ...(launchedAt === null ? [] : [afterReconnect(launchedAt + UNHEARD_MS, availableSince)]),
    ...(verifying === 0 || healthUntil === null ? [] : [wasDue ? now + LIMITS.healthRecheckMs : healthUntil]),
  ];
}

function timesOfNodes({ rollout, nodes, availableSince }: Watched, now: number): number[] {
  return nodes.flatMap((node) => {
    if (node.status !== "in_progress") return [];
    if (node.phase !== "VERIFYING") return [givenUpAt(node, availableSince, now)];
    const due = healthDueAt(rollout, node, now);
    if (due === null) return [];
    // Past the wait only a heartbeat is missing: look again soon, for it comes without a nudge.
    return [now < due ? due : now + LIMITS.healthRecheckMs];
  });
}
