/** The working copy that the steps of `decideRollout` write on. Lives for one call. */
import type { IncidentDraft } from "../incident/draft.ts";
import type { NodeId } from "../ids.ts";
import type { BatchLaunch, DecidedEvent, Launch, RolloutDecision, Stands } from "./decision.ts";
import { incidentOfNode } from "./incidents.ts";
import { patchOfNode, patchOfRollout } from "./patches.ts";
import type { BatchNode, RolloutRow, RolloutRows, StatusCounts, Why } from "./rows.ts";
import { step, type RolloutEvent } from "./states.ts";
import { UNHEARD_MS, wakeAt } from "./wake.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type DraftNode = Writable<BatchNode> & { changed: boolean; stands: Stands };
export type DraftRollout = Writable<RolloutRow>;
export type Draft = ReturnType<typeof Draft>;

export function Draft(rows: RolloutRows) {
  const rollout: DraftRollout = { ...rows.rollout };
  const nodes = new Map<NodeId, DraftNode>(
    [...rows.batch, ...rows.named].map((node) => [
      node.nodeId,
      { ...node, changed: false, stands: "previous" },
    ]),
  );
  const counts: Writable<StatusCounts> = { ...rows.counts };
  const events: DecidedEvent[] = [];
  const launches: Launch[] = [];
  const incidents: IncidentDraft[] = [];
  const appliedSignals: number[] = [];
  let launchBatch: BatchLaunch | null = null;
  let skipPending = false;
  let isHurried = false;

  function move(event: RolloutEvent, why: Why | null): boolean {
    const to = step(rollout.status, event);
    if (to === undefined) return false;
    events.push({ kind: "rollout.status", from: rollout.status, to, why });
    rollout.status = to;
    rollout.why = why;
    rollout.pauseRequested = false; // it took effect, or there is nothing left to pause
    if (to === "cancelled" || to === "failed" || to === "rolling_back") skipPending = true;
    return true;
  }

  function change(node: DraftNode, patch: Partial<DraftNode>, error: Why | null = null): void {
    const was = node.status;
    if (patch.status !== undefined && patch.status !== was) {
      counts[was] -= 1;
      counts[patch.status] += 1;
    }
    Object.assign(node, patch, { changed: true });
    if (error !== null) {
      node.errorCode = error.code as BatchNode["errorCode"];
      node.errorMessage = error.text;
    }
    const { nodeId, status, phase, actionName } = node;
    events.push({ kind: "node.upgrade", nodeId, status, phase, action: actionName, error });
    if (status === "failed_rollback" && was !== status) incidents.push(incidentOfNode(rollout, node));
  }

  function launch(node: DraftNode, direction: Launch["direction"], attempt: number): void {
    launches.push({ nodeId: node.nodeId, direction, attempt });
    node.direction = direction;
    node.attempt = attempt;
    node.launchedAt = null; // the server writes it
    node.commandId = null; // and this: what still comes of the command before is not about this attempt
    node.installedAt = null;
    change(node, { status: "in_progress", phase: "PREPARING", actionName: null, progressPct: 0 });
  }

  /** Called again, with whom it left, until nobody of the batch waits. */
  function openBatch(index: number, direction: BatchLaunch["direction"], waiting: number): void {
    const isGoingOn = index === rollout.currentBatch && (direction === "forward" || atWork().length > 0);
    if (!isGoingOn) events.push({ kind: "rollout.batch", batch: index, direction });
    launchBatch = { index, direction, most: rows.launchesPerStep };
    if (waiting > rows.launchesPerStep) isHurried = true;
    rollout.currentBatch = index;
    rollout.healthUntil = null;
  }

  /** Nodes of the current batch have yet to be launched, and nothing was asked for that keeps them. */
  const isOpening = (now: number): boolean =>
    rollout.status === "running" &&
    rows.next?.index === rollout.currentBatch &&
    !(rollout.pauseRequested || rollout.cancelRequested || rollout.rollbackRequested) &&
    (rollout.intentNotAfter === null || rollout.intentNotAfter > now);

  /** Has a command and no end, and is looked at; whichever batch it came from: retried ones joined the current. */
  const atWork = (): DraftNode[] => [...nodes.values()].filter((node) => node.status === "in_progress");

  const nextLook = (now: number): number | null => {
    if (isHurried) return now + 1;
    const { healthUntil } = rows.rollout;
    const wasDue = healthUntil !== null && healthUntil <= now;
    const { quiet, availableSince } = rows;
    const look = wakeAt({ rollout, nodes: [...nodes.values()], quiet, availableSince, wasDue }, now);
    return launchBatch === null ? look : Math.min(look ?? Infinity, now + UNHEARD_MS);
  };

  const finish = (now: number): RolloutDecision => ({
    rollout: patchOfRollout(rollout, counts),
    nodes: [...nodes.values()].filter((node) => node.changed).map(patchOfNode),
    launches,
    launchBatch,
    skipPending,
    appliedSignals,
    incidents,
    events,
    wakeAt: nextLook(now),
  });

  return {
    rollout,
    nodes,
    counts,
    next: rows.next,
    lastSucceeded: rows.lastSucceeded,
    events,
    incidents,
    appliedSignals,
    atWork,
    quiet: rows.quiet,
    availableSince: rows.availableSince,
    isAnyAtWork: (): boolean => atWork().length + rows.quiet.installing + rows.quiet.verifying > 0,
    settlesPerStep: rows.settlesPerStep,
    /** This step leaves something undone. */
    lookAgainAtOnce: (): void => void (isHurried = true),
    inBatch: (): DraftNode[] =>
      [...nodes.values()].filter((node) => node.batchIndex === rollout.currentBatch),
    move,
    change,
    launch,
    openBatch,
    isOpening,
    finish,
  };
}
