/**
 * The rows of one rollout in memory: loaded, decided on and committed as src/server/rollout/{load,advance,commit}.ts do,
 * without a database. What a test does to it is what agents and operators do to the real one.
 */
import type { IncidentDraft } from "../../../src/core/incident/draft.ts";
import { CommandId, type Digest, type NodeId, type RolloutId } from "../../../src/core/ids.ts";
import {
  directionOf,
  type BatchPart,
  type DecidedEvent,
  type Launch,
  type RolloutDecision,
} from "../../../src/core/rollout/decision.ts";
import { decideRollout } from "../../../src/core/rollout/decide.ts";
import { isOnTarget } from "../../../src/core/rollout/draft.ts";
import type { NodeState } from "../../../src/core/protocol/agent-api.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { HealthFacts } from "../../../src/core/rollout/health.ts";
import { isOpen, standsByHeartbeat } from "../../../src/core/rollout/late.ts";
import { countQuiet, lookAt, lookedAt, type Look } from "../../../src/core/rollout/quiet.ts";
import type { NextBatch, ReportRow, RolloutRows, SignalRow } from "../../../src/core/rollout/rows.ts";
import { failureIncidents, notLaunched } from "../../../src/server/rollout/node-failures.ts";
import { DRIVE_ACTOR, silenceOf } from "../../../src/core/rollout/silence.ts";
import { createdRows, uuid, type NodeRow, type TableWish } from "./created-rows.ts";
import {
  isActive,
  isSettled,
  NODE_UPGRADE_STATUSES,
  type SignalKind,
} from "../../../src/core/rollout/states.ts";

/** What it is to find, and what to leave behind: the assignment and the command together. */
export type Command = Launch & {
  readonly commandId: CommandId;
  readonly rolloutId: RolloutId;
  readonly at: number;
  readonly from: Digest | null;
  readonly to: Digest;
};
export type SignalRecord = SignalRow & { readonly applied: boolean };
export type RolloutTable = ReturnType<typeof createRolloutTable>;
/** `whole`: the same rows with everyone of the batch among them. */
export type Decide = (rows: RolloutRows, now: number, whole: () => RolloutRows) => RolloutDecision;

const waitsForRetry = ({ retryRequested, isRevoked }: NodeRow): boolean => retryRequested && !isRevoked;

const AWAY = ["down", "failed", "degraded"];

/** `decide` is the real one, unless a test wants to see that a broken one is caught. */
export function createRolloutTable(wish: TableWish, decide: Decide = decideRollout) {
  const { rollout: created, nodes, target, number, bounds } = createdRows(wish);
  let rollout = created;
  const commands: Command[] = [];
  const events: DecidedEvent[] = [];
  const incidents: IncidentDraft[] = [];
  const consumed: SignalRecord[] = [];
  let [signals, reports]: [SignalRow[], ReportRow[]] = [[], []];
  let wakeAt: number | null = null;
  let availableSince = 0;
  let isBroken = (): boolean => false;
  const signalledSilence = new Set<CommandId | null>();
  let [lastId, revision] = [number * 1_000_000, 0];
  const isUnknown = ({ status, stands }: NodeRow): boolean => status === "failed" && stands === "unknown";
  const endedAt = new Map<NodeId, number>();
  /** As a heartbeat after its end has it. */
  const measuredBy = ({ nodeId, facts }: NodeRow): Digest | null =>
    (facts.heartbeatAt ?? 0) > (endedAt.get(nodeId) ?? Infinity) ? facts.runningFingerprint : null;
  const loaded = (node: NodeRow): NodeRow => ({ ...node, measured: measuredBy(node) });
  const isMeasured = (node: NodeRow): boolean => standsByHeartbeat(loaded(node)) !== null;
  const rowOf = (nodeId: NodeId): NodeRow => nodes.find((node) => node.nodeId === nodeId)!;
  /** Of the profile on its node: hidden while the node is down. */
  const programStates = new Map<NodeId, NodeState>();
  const programOf = ({ nodeId, facts }: NodeRow): NodeState =>
    facts.nodeState === "down" ? (programStates.get(nodeId) ?? "active") : facts.nodeState;
  function setProgram(row: NodeRow, nodeState: NodeState): void {
    programStates.set(row.nodeId, nodeState);
    if (row.facts.nodeState !== "down") row.facts = { ...row.facts, nodeState };
  }
  /** Heard again, a node is not down; the health look has not made it active yet. */
  const heardState = (row: NodeRow): NodeState => {
    const isDown = row.facts.nodeState === "down";
    return isDown && programOf(row) === "active" ? "degraded" : programOf(row);
  };

  const counts = () =>
    Object.fromEntries(
      NODE_UPGRADE_STATUSES.map((status) => [status, nodes.filter((node) => node.status === status).length]),
    ) as RolloutRows["counts"];

  const lookNow = (now: number): Look =>
    lookAt(rollout, signals, { now, availableSince, settlesPerStep: bounds.settlesPerStep });

  function load(now: number, look: Look = lookNow(now)): RolloutRows {
    const reported = new Set(reports.map(({ nodeId }) => nodeId));
    const isNamed = (node: NodeRow): boolean =>
      reported.has(node.nodeId) || isMeasured(node) || signals.some(({ nodeId }) => nodeId === node.nodeId);
    const isBegun = (node: NodeRow): boolean =>
      node.batchIndex === rollout.currentBatch && node.status !== "pending";
    const begun = nodes.filter(isBegun).map(loaded);
    const batch = lookedAt(look, begun, reported);
    const onTarget = nodes.filter(isOnTarget).map((node) => node.batchIndex);
    const last = Math.max(...onTarget);
    return {
      rollout,
      batch,
      quiet: countQuiet(begun.filter((node) => !batch.includes(node))),
      named: nodes.filter((node) => node.status !== "in_progress" && isNamed(node)).map(loaded),
      counts: counts(),
      next: loadNext(),
      retries: {
        nodes: nodes.filter(waitsForRetry).length,
        possible: nodes.filter(({ status, isRevoked }) => status === "failed" && !isRevoked).length,
        next: loadRetries(),
      },
      isBeyondCanary: nodes.some(({ batchIndex, attempt }) => batchIndex > 0 && attempt > 0),
      unsettled: nodes.filter(isUnknown).length,
      lastOnTarget:
        onTarget.length === 0
          ? null
          : { index: last, nodes: onTarget.filter((batch) => batch === last).length },
      signals,
      reports,
      availableSince,
      ...bounds,
    };
  }

  const decideAt = (now: number): RolloutDecision =>
    decide(load(now), now, () => load(now, { ...lookNow(now), whole: true }));

  const isAwayAnywhere = ({ facts, elsewhere }: NodeRow): boolean =>
    elsewhere === "away" || AWAY.includes(facts.nodeState);

  /** In maintenance for another program, and neither lost nor about to join. */
  const busyBeside = (
    value: string,
    opening: readonly NodeRow[],
    isCounted: (node: NodeRow) => boolean,
  ): number =>
    nodes.filter(
      (node) =>
        node.labelValue === value &&
        node.elsewhere === "busy" &&
        isCounted(node) &&
        !opening.includes(node) &&
        !AWAY.includes(node.facts.nodeState) &&
        !node.status.startsWith("failed"),
    ).length;

  function loadNext(): NextBatch | null {
    const waiting = nodes.filter(
      (node) =>
        node.status === "pending" &&
        !node.isRevoked &&
        node.batchIndex >= rollout.currentBatch &&
        !signals.some(({ kind, nodeId }) => kind === "skip" && nodeId === node.nodeId),
    );
    if (waiting.length === 0) return null;
    const index = Math.min(...waiting.map((node) => node.batchIndex));
    const opening = waiting.filter((node) => node.batchIndex === index);
    const isAway = (node: NodeRow): boolean =>
      node.batchIndex !== rollout.currentBatch &&
      !opening.includes(node) &&
      (isAwayAnywhere(node) || node.status.startsWith("failed"));
    const values = [...new Set(opening.map((node) => node.labelValue))].filter((value) => value !== null);
    const byValue = values.map((value) => ({
      value,
      nodes: opening.filter((node) => node.labelValue === value).length,
      away: nodes.filter((node) => node.labelValue === value && isAway(node)).length,
      busy: busyBeside(value, opening, (node) => node.batchIndex !== rollout.currentBatch),
    }));
    return { index, nodes: opening.length, byValue: rollout.maxUnavailable === null ? [] : byValue };
  }

  /** Nodes that are away already join nobody: the limit counts them, and the others of the batch. */
  function loadRetries(): NextBatch | null {
    const waiting = nodes.filter(waitsForRetry);
    if (waiting.length === 0) return null;
    const indexes = waiting.map(({ batchIndex }) => batchIndex);
    const index = indexes.includes(rollout.currentBatch) ? rollout.currentBatch : Math.min(...indexes);
    const opening = waiting.filter(({ batchIndex }) => batchIndex === index);
    const isAway = isAwayAnywhere;
    const joining = opening.filter((node) => !isAway(node));
    const values = [...new Set(joining.map((node) => node.labelValue))].filter((value) => value !== null);
    const byValue = values.map((value) => ({
      value,
      nodes: joining.filter((node) => node.labelValue === value).length,
      away: nodes.filter((node) => node.labelValue === value && isAway(node)).length,
      busy: busyBeside(value, opening, (node) => node.status !== "in_progress"),
    }));
    return { index, nodes: opening.length, byValue: rollout.maxUnavailable === null ? [] : byValue };
  }

  function launch({ nodeId, direction, attempt }: Launch, now: number): void {
    const commandId = CommandId.parse(uuid(3, ++lastId));
    const row = rowOf(nodeId);
    Object.assign(row, { stands: null, assigned: true });
    const [from, to] = direction === "forward" ? [row.recorded, target] : [target, row.previous!];
    commands.push({ nodeId, direction, attempt, commandId, rolloutId: rollout.id, at: now, from, to });
    const sent = { status: "in_progress", phase: "PREPARING", actionName: null, progressPct: 0 } as const;
    const asked = { waitingFor: null, retryRequested: false, silentSince: null };
    Object.assign(row, sent, asked, { direction, attempt, commandId, launchedAt: now });
    row.installedAt = null;
    if (direction === "forward") Object.assign(row, { errorCode: null, errorMessage: null });
    setProgram(row, "maintenance");
  }

  function opened({ launchBatch }: RolloutDecision): Launch[] {
    if (launchBatch === null) return [];
    const { index, part, most } = launchBatch;
    const direction = directionOf(part);
    const isMeant: Record<BatchPart, (node: NodeRow) => boolean> = {
      pending: ({ status, isRevoked }) => status === "pending" && !isRevoked,
      retried: waitsForRetry,
      succeeded: isOnTarget,
    };
    return nodes
      .filter((node) => node.batchIndex === index && isMeant[part](node))
      .slice(0, most)
      .map(({ nodeId, attempt }) => ({
        nodeId,
        direction,
        attempt: direction === "forward" ? attempt + 1 : attempt,
      }));
  }

  function commit(decision: RolloutDecision, now: number): void {
    const { retries } = decision;
    for (const node of nodes)
      node.retryRequested ||=
        node.status === "failed" && !node.isRevoked && (retries === "all" || retries.includes(node.nodeId));
    for (const { nodeId, ...patch } of decision.nodes)
      Object.assign(rowOf(nodeId), patch, patch.stands === "untouched" ? { stands: null } : {});
    for (const { nodeId, status, stands } of decision.nodes.filter((node) => isSettled(node.status))) {
      const row = rowOf(nodeId);
      row.silentSince = null;
      endedAt.set(nodeId, now);
      if (stands === "target") row.recorded = target;
      if (stands === "previous" && row.previous !== null) row.recorded = row.previous;
      const isBroken = stands === "unknown" || status === "failed_rollback";
      if (programOf(row) === "maintenance") setProgram(row, isBroken ? "degraded" : "active");
    }
    const launches = [...decision.launches, ...opened(decision)];
    const broken = launches.filter(() => isBroken());
    for (const each of launches) if (!broken.includes(each)) launch(each, now);
    const failures = broken.map((item) => notLaunched({ item, error: new Error("the row is refused") }));
    for (const { nodeId, status, stands, code, message } of failures) {
      const failed = {
        status,
        stands,
        errorCode: code,
        errorMessage: message,
        phase: null,
        waitingFor: null,
        silentSince: null,
        retryRequested: false,
      };
      const row = rowOf(nodeId);
      Object.assign(row, failed);
      if (programOf(row) === "maintenance") setProgram(row, "degraded");
      endedAt.set(nodeId, now);
    }
    incidents.push(...failureIncidents({ ...rollout, ...decision.rollout }, failures));
    if (decision.skipPending)
      for (const node of nodes) {
        node.retryRequested = false;
        if (node.status === "pending") node.status = "skipped";
      }
    for (const signal of signals)
      consumed.push({ ...signal, applied: decision.appliedSignals.includes(signal.id) });
    [signals, reports] = [[], []];
    rollout = { ...rollout, ...decision.rollout };
    wakeAt = failures.length > 0 ? now + 1 : decision.wakeAt;
    incidents.push(...decision.incidents);
    events.push(...decision.events);
    const isNews = decision.events.some(({ kind }) => kind === "rollout.status" || kind === "rollout.signal");
    if (isNews) revision += 1;
  }

  return {
    nodes,
    commands,
    events,
    incidents,
    /** Signals that were read, and whether they had an effect. */
    consumed,
    counts,
    load,
    rollout: () => rollout,
    wakeAt: () => wakeAt,
    revision: () => revision,
    hasUnread: () => signals.length > 0,
    unreadReports: (): readonly ReportRow[] => reports,
    hasWork: () => signals.length + reports.length > 0 || nodes.some(isMeasured),
    /** Nodes that nobody knows the version of, by their attempts. */
    unknown: (): string =>
      nodes
        .filter(isOpen)
        .map(({ nodeId, direction, attempt }) => `${nodeId} ${direction} ${attempt}`)
        .join(),
    availableSince: () => availableSince,
    /** Rows of a launch that cannot be written, by chance. */
    breakLaunches: (by: () => boolean): void => void (isBroken = by),
    /** There is something to roll back. */
    hasOnTarget: () => nodes.some((node) => isOnTarget(node) || isUnknown(node)),
    /** A later rollout has launched the node. */
    supersede(nodeId: NodeId): void {
      for (const node of nodes) if (node.nodeId === nodeId) node.assigned = false;
    },
    /** Versions are recorded per node and profile: another rollout, or an adoption, has recorded this one. */
    record(nodeId: NodeId, fingerprint: Digest | null): void {
      for (const node of nodes) if (node.nodeId === nodeId) node.recorded = fingerprint;
    },
    /** As src/server/rollout/adopt.ts does with an assignment. */
    adopt(nodeId: NodeId, fingerprint: Digest): void {
      for (const node of nodes.filter((each) => each.nodeId === nodeId && each.assigned)) {
        const isKnown = fingerprint === target || fingerprint === node.previous;
        if (isOpen(node) && isKnown) node.stands = fingerprint === target ? "target" : "previous";
        node.assigned = isKnown;
      }
    },
    /** As src/server/identity/revocation.ts does. Tells whether the rollout has to hear of it. */
    revoke(nodeId: NodeId): boolean {
      const node = nodes.find((each) => each.nodeId === nodeId);
      if (node === undefined) return false;
      node.isRevoked = true;
      const isOpenYet = node.status === "pending" || node.status === "in_progress" || node.retryRequested;
      if (!isOpenYet || !isActive(rollout.status)) return false;
      signals = [...signals, { id: ++lastId, kind: "give_up", nodeId, actor: "ann", reason: "replaced" }];
      return true;
    },
    statuses: () => nodes.map((node) => node.status),
    /** A step whose transaction is lost: decided, and nothing written. */
    decideOnly: decideAt,
    advance(now: number): RolloutDecision {
      const decision = decideAt(now);
      commit(decision, now);
      return decision;
    },
    signal(
      kind: SignalKind,
      reason: string | null = null,
      nodeId: NodeId | null = null,
      actor = "ann",
    ): void {
      signals = [...signals, { id: ++lastId, kind, nodeId, actor, reason }];
    },
    /** As src/server/rollout/silence.ts does. Tells whether a node was given up. */
    watchSilence(now: number, silenceMaxMs: number): boolean {
      const waiting = signals.length;
      for (const node of nodes.filter(({ status }) => status === "in_progress")) {
        const { launchedAt, phase, facts, commandId } = node;
        const silence = silenceOf(
          { heardAt: facts.heartbeatAt, launchedAt, phase },
          { now, availableSince, silenceMaxMs },
        );
        node.silentSince = silence.kind === "silent" ? silence.since : null;
        if (silence.kind !== "silent" || !silence.isOver || signalledSilence.has(commandId)) continue;
        signalledSilence.add(commandId);
        signals = [
          ...signals,
          { id: ++lastId, kind: "give_up", nodeId: node.nodeId, actor: DRIVE_ACTOR, reason: "silent" },
        ];
      }
      return signals.length > waiting;
    },
    /** As src/server/clock/dated-ahead.ts does: the clock was ahead and was corrected to `now`. */
    mendDates(now: number): void {
      const mended = <T extends number | null>(at: T) =>
        at !== null && at > now + LIMITS.clockDisagreeMs ? now : at;
      for (const node of nodes) {
        const { launchedAt, installedAt, silentSince, facts } = node;
        node.launchedAt = mended(launchedAt);
        node.installedAt = mended(installedAt);
        node.silentSince = mended(silentSince);
        node.facts = { ...facts, heartbeatAt: mended(facts.heartbeatAt) };
      }
      for (const [nodeId, at] of endedAt) endedAt.set(nodeId, mended(at));
    },
    /** The control plane was away until then. */
    cameBack: (at: number): void => void (availableSince = at),
    /** A new intent for the same wish, as it comes with a signal. */
    renewIntent: (intentNotAfter: number): void =>
      void (rollout = { ...rollout, intentNotAfter, intentCalledOff: false, intentUntrusted: null }),
    /** The key of the intent was revoked. */
    distrust: (reason: string): void => void (rollout = { ...rollout, intentUntrusted: reason }),
    report(nodeId: NodeId, at: number, body: ReportRow["body"], commandId = rowOf(nodeId).commandId!): void {
      reports = [...reports, { id: ++lastId, nodeId, commandId, at, body }];
    },
    heartbeat(nodeId: NodeId, at: number, facts: Partial<HealthFacts> = {}): void {
      const row = rowOf(nodeId);
      const well = { applicationHealth: "ok", syncStatus: "synced", restarts: 0 } as const;
      const runningFingerprint = row.direction === "reverse" ? row.previous : target;
      const nodeState = heardState(row);
      row.facts = { ...row.facts, ...well, nodeState, runningFingerprint, heartbeatAt: at, ...facts };
    },
  };
}
