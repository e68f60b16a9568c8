/** The working copy that the steps of `decideRollout` write on. Lives for one call. */
import { LIMITS } from "../limits.ts";
import type { NodeId } from "../ids.ts";
import type {
  BatchNode,
  DecidedEvent,
  Launch,
  NodePatch,
  RolloutDecision,
  RolloutPatch,
  RolloutRow,
  RolloutRows,
  Stands,
  StatusCounts,
  Why,
} from "./rows.ts";
import { isSettled, step, type RolloutEvent } from "./states.ts";

/** A node that was never heard of has not begun when its command is over. */
const UNHEARD_MS = LIMITS.commandLifetimeMs + 60_000;
/** One that was heard of may have begun as late as that, and then has deadlines of its own. */
const AT_WORK_MS = UNHEARD_MS + LIMITS.scheduleToCloseMs + LIMITS.compensationBudgetMs;

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type DraftNode = Writable<BatchNode> & { changed: boolean; stands: Stands };
export type DraftRollout = Writable<RolloutRow>;
export type Draft = ReturnType<typeof Draft>;

/** When a node without a verdict has failed. */
export const givenUpAt = (node: DraftNode, now: number): number =>
  (node.launchedAt ?? now) + (node.actionName === null ? UNHEARD_MS : AT_WORK_MS);

export function Draft(rows: RolloutRows) {
  const rollout: DraftRollout = { ...rows.rollout };
  const nodes = new Map<NodeId, DraftNode>(
    rows.batch.map((node) => [node.nodeId, { ...node, changed: false, stands: "previous" }]),
  );
  const counts: Writable<StatusCounts> = { ...rows.counts };
  const events: DecidedEvent[] = [];
  const launches: Launch[] = [];
  let launchBatch: number | null = null;
  let skipPending = false;

  function move(event: RolloutEvent, why: Why | null): boolean {
    const to = step(rollout.status, event);
    if (to === undefined) return false;
    events.push({ kind: "rollout.status", from: rollout.status, to, why });
    rollout.status = to;
    rollout.why = why;
    rollout.pauseRequested = false; // it took effect, or there is nothing left to pause
    return true;
  }

  function change(node: DraftNode, patch: Partial<DraftNode>, error: Why | null = null): void {
    if (patch.status !== undefined && patch.status !== node.status) {
      counts[node.status] -= 1;
      counts[patch.status] += 1;
    }
    Object.assign(node, patch, { changed: true });
    if (error !== null) {
      node.errorCode = error.code as BatchNode["errorCode"];
      node.errorMessage = error.text;
    }
    const { nodeId, status, phase, actionName } = node;
    events.push({ kind: "node.upgrade", nodeId, status, phase, action: actionName, error });
  }

  function launch(node: DraftNode, direction: Launch["direction"], attempt: number): void {
    launches.push({ nodeId: node.nodeId, direction, attempt });
    node.direction = direction;
    node.attempt = attempt;
    node.launchedAt = null; // the server writes it
    change(node, { phase: "PREPARING", actionName: null, progressPct: 0 });
  }

  function openBatch(index: number): void {
    launchBatch = index;
    rollout.currentBatch = index;
    rollout.healthUntil = null;
    events.push({ kind: "rollout.batch", batch: index });
  }

  function finish(now: number): RolloutDecision {
    if (rollout.status === "cancelled" || rollout.status === "failed") skipPending = true;
    return {
      rollout: patchOf(rollout),
      nodes: [...nodes.values()].filter((node) => node.changed).map(patchOfNode),
      launches,
      launchBatch,
      skipPending,
      events,
      wakeAt: wakeAt(now),
    };
  }

  function wakeAt(now: number): number | null {
    if (rollout.status !== "running") return null;
    if (launchBatch !== null) return now + UNHEARD_MS;
    const times = [...nodes.values()].flatMap((node) => {
      if (isSettled(node.status)) return [];
      if (node.phase !== "VERIFYING") return [givenUpAt(node, now)];
      if (rollout.healthUntil === null) return [];
      // Past the wait only a heartbeat is missing: look again soon, for it comes without a nudge.
      return [now < rollout.healthUntil ? rollout.healthUntil : now + LIMITS.healthRecheckMs];
    });
    return times.length === 0 ? null : Math.max(Math.min(...times), now + 1);
  }

  return {
    rollout,
    nodes,
    counts,
    events,
    move,
    change,
    launch,
    openBatch,
    finish,
  };
}

const patchOf = (rollout: DraftRollout): RolloutPatch => ({
  status: rollout.status,
  currentBatch: rollout.currentBatch,
  healthUntil: rollout.healthUntil,
  pauseRequested: rollout.pauseRequested,
  cancelRequested: rollout.cancelRequested,
  acknowledgedFailures: rollout.acknowledgedFailures,
  why: rollout.why,
});

const patchOfNode = (node: DraftNode): NodePatch => ({
  nodeId: node.nodeId,
  status: node.status,
  phase: isSettled(node.status) ? null : node.phase,
  actionName: node.actionName,
  progressPct: node.progressPct,
  installedAt: node.installedAt,
  errorCode: node.errorCode,
  errorMessage: node.errorMessage,
  stands: node.stands,
});
