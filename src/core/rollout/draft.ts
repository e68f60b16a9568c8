/** The working copy that the steps of `decideRollout` write on. Lives for one call. */
import type { IncidentDraft } from "../incident/draft.ts";
import type { NodeId } from "../ids.ts";
import {
  directionOf,
  type BatchLaunch,
  type BatchPart,
  type DecidedEvent,
  type Launch,
  type RolloutDecision,
  type Stands,
} from "./decision.ts";
import { incidentOfNode } from "./incidents.ts";
import { failedCount, patchOfNode, patchOfRollout } from "./patches.ts";
import type { BatchNode, NextBatch, RolloutRow, RolloutRows, StatusCounts, Why } from "./rows.ts";
import { isActive, isSettled, step, type RolloutEvent } from "./states.ts";
import { UNHEARD_MS, wakeAt } from "./wake.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type DraftNode = Omit<Writable<BatchNode>, "stands"> & {
  changed: boolean;
  stands: Stands | null;
};
export type DraftRollout = Writable<RolloutRow>;
export type Draft = ReturnType<typeof Draft>;
type BatchOpening = Pick<NextBatch, "index" | "nodes">;

/**
 * It runs the new version and came from somewhere: a rollback takes it back, whatever became of its upgrade. An
 * adoption changes `stands` of a node that succeeded.
 */
export const isOnTarget = ({
  status,
  stands,
  previous,
  isRevoked,
}: Pick<DraftNode, "status" | "stands" | "previous" | "isRevoked">): boolean =>
  !isRevoked &&
  previous !== null &&
  ((status === "succeeded" && (stands === "target" || stands === null)) ||
    (status === "failed" && stands === "target"));

export function Draft(rows: RolloutRows) {
  const rollout: DraftRollout = { ...rows.rollout };
  const nodes = new Map<NodeId, DraftNode>(
    [...rows.batch, ...rows.named].map((node) => [node.nodeId, { ...node, changed: false }]),
  );
  const counts: Writable<StatusCounts> = { ...rows.counts };
  const events: DecidedEvent[] = [];
  const launches: Launch[] = [];
  const incidents: IncidentDraft[] = [];
  const appliedSignals: number[] = [];
  const answeredReports: Writable<RolloutDecision["answeredReports"]> = [];
  let launchBatch: BatchLaunch | null = null;
  let skipPending = false;
  let retries: NodeId[] | "all" = [];
  let waitingRetries = rows.retries.nodes;
  let revokedFailures = rows.counts.failed - rows.retries.possible;
  let isHurried = false;
  let lookAgain: number | null = null;

  function move(event: RolloutEvent, why: Why | null): boolean {
    const to = step(rollout.status, event);
    if (to === undefined) return false;
    events.push({ kind: "rollout.status", from: rollout.status, to, why });
    rollout.status = to;
    rollout.why = why;
    rollout.pauseRequested = false; // it took effect, or there is nothing left to pause
    if (!isActive(to) || to === "rolling_back") skipPending = true;
    return true;
  }

  function change(node: DraftNode, patch: Partial<DraftNode>, error: Why | null = null): void {
    const was = node.status;
    if (patch.status !== undefined && patch.status !== was) {
      counts[was] -= 1;
      counts[patch.status] += 1;
      if (node.isRevoked) revokedFailures += Number(patch.status === "failed") - Number(was === "failed");
      else if (node.retryRequested) waitingRetries -= 1;
      node.retryRequested = false;
    }
    Object.assign(node, patch, { changed: true });
    if (error !== null) {
      node.errorCode = error.code as BatchNode["errorCode"];
      node.errorMessage = error.text;
    }
    const { nodeId, status, phase, actionName, waitingFor } = node;
    const waits = waitingFor === null || isSettled(status) ? {} : { waitingFor };
    events.push({ kind: "node.upgrade", nodeId, status, phase, action: actionName, ...waits, error });
    if (status === "failed_rollback" && was !== status) incidents.push(incidentOfNode(rollout, node));
  }

  function launch(node: DraftNode, direction: Launch["direction"], attempt: number): void {
    launches.push({ nodeId: node.nodeId, direction, attempt });
    node.direction = direction;
    node.attempt = attempt;
    node.launchedAt = null; // the server writes it
    node.commandId = null; // and this: what still comes of the command before is not about this attempt
    node.installedAt = null;
    const opening = { phase: "PREPARING", actionName: null, progressPct: 0, waitingFor: null } as const;
    change(node, { status: "in_progress", stands: null, ...opening });
  }

  /** Called again, with whom it left, until nobody of that part of the batch waits. */
  function openBatch({ index, nodes: waiting }: BatchOpening, part: BatchPart): void {
    const direction = directionOf(part);
    const isGoingOn = index === rollout.currentBatch && (direction === "forward" || atWork().length > 0);
    if (!isGoingOn) events.push({ kind: "rollout.batch", batch: index, direction });
    launchBatch = { index, part, most: rows.launchesPerStep };
    if (waiting > rows.launchesPerStep) isHurried = true;
    rollout.currentBatch = index;
    rollout.healthUntil = null;
  }

  const canRetry = ({ status, isRevoked }: DraftNode): boolean => status === "failed" && !isRevoked;

  /**
   * A failed node, or each of them, waits for another attempt from the next step on. False: no node is left to mark. A
   * revoked node gets no command and is never marked.
   */
  function requestRetry(node: DraftNode | "all"): boolean {
    if (node === "all") {
      const possible = counts.failed - revokedFailures;
      if (waitingRetries === possible) return false;
      for (const each of nodes.values()) each.retryRequested ||= canRetry(each);
      retries = "all";
      waitingRetries = possible;
    } else {
      if (!canRetry(node) || node.retryRequested) return false;
      node.retryRequested = true;
      if (retries !== "all") retries.push(node.nodeId);
      waitingRetries += 1;
    }
    isHurried = true;
    return true;
  }

  /** Of a revoked node, which is not counted among the waiting ones. */
  function dropRetry(node: DraftNode, error: Why): void {
    node.retryRequested = false;
    change(node, {}, error);
  }

  /** Nodes take the intent: its key is trusted, and its window open. */
  const isIntentOpen = (now: number): boolean =>
    rollout.intentUntrusted === null && (rollout.intentNotAfter === null || rollout.intentNotAfter > now);

  /** Nothing was asked for that keeps nodes of the current batch from being launched. */
  const mayLaunch = (now: number): boolean =>
    !(rollout.pauseRequested || rollout.cancelRequested || rollout.rollbackRequested) && isIntentOpen(now);

  /** Nodes of the current batch have yet to be launched, and may be. */
  const isOpening = (now: number): boolean =>
    rollout.status === "running" && rows.next?.index === rollout.currentBatch && mayLaunch(now);

  /** Has a command and no end, and is looked at; whichever batch it came from: retried ones joined the current. */
  const atWork = (): DraftNode[] => [...nodes.values()].filter((node) => node.status === "in_progress");

  /** Nodes that failed and do not wait for a retry. */
  const failures = (): number => failedCount(counts) - waitingRetries;

  const nextLook = (now: number): number | null => {
    if (isHurried) return now + 1;
    const { healthUntil } = rows.rollout;
    const wasDue = healthUntil !== null && healthUntil <= now;
    const { quiet, availableSince } = rows;
    const look = wakeAt({ rollout, nodes: [...nodes.values()], quiet, availableSince, wasDue }, now);
    const times = [look, lookAgain, launchBatch === null ? null : now + UNHEARD_MS].filter(
      (at) => at !== null,
    );
    return times.length === 0 ? null : Math.min(...times);
  };

  const finish = (now: number): RolloutDecision => ({
    rollout: patchOfRollout(rollout, failures()),
    nodes: [...nodes.values()].filter((node) => node.changed).map(patchOfNode),
    launches,
    launchBatch,
    retries,
    skipPending,
    appliedSignals,
    answeredReports,
    incidents,
    events,
    wakeAt: nextLook(now),
  });

  return {
    rollout,
    nodes,
    counts,
    next: rows.next,
    /** As this step found them: retries that it notes are launched by the next one. */
    retries: rows.retries.next,
    waitingRetries: (): number => waitingRetries,
    failures,
    isBeyondCanary: rows.isBeyondCanary,
    lastOnTarget: rows.lastOnTarget,
    unsettled: rows.unsettled,
    events,
    incidents,
    appliedSignals,
    answeredReports,
    atWork,
    quiet: rows.quiet,
    availableSince: rows.availableSince,
    isAnyAtWork: (): boolean => atWork().length + rows.quiet.installing + rows.quiet.verifying > 0,
    settlesPerStep: rows.settlesPerStep,
    /** This step leaves something undone. */
    lookAgainAtOnce: (): void => void (isHurried = true),
    /** No report tells when what this step waits for has happened. */
    lookAgainAt: (at: number): void => void (lookAgain = at),
    inBatch: (): DraftNode[] =>
      [...nodes.values()].filter((node) => node.batchIndex === rollout.currentBatch),
    move,
    change,
    launch,
    openBatch,
    requestRetry,
    dropRetry,
    /** Its verdict has come, and is read in this step. */
    hasAnswered: ({ commandId }: DraftNode): boolean =>
      rows.reports.some((report) => report.commandId === commandId && report.body.kind === "verdict"),
    isIntentOpen,
    mayLaunch,
    isOpening,
    finish,
  };
}
