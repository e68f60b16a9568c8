/**
 * The rows of one rollout in memory: loaded, decided on and committed as src/server/rollout/{load,advance,commit}.ts do,
 * without a database. What a test does to it is what agents and operators do to the real one.
 */
import { CommandId, Digest, NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { HealthFacts } from "../../../src/core/rollout/health.ts";
import { decideRollout } from "../../../src/core/rollout/decide.ts";
import type {
  BatchNode,
  DecidedEvent,
  Launch,
  ReportRow,
  RolloutDecision,
  RolloutRow,
  RolloutRows,
  SignalRow,
} from "../../../src/core/rollout/rows.ts";
import { isSettled, NODE_UPGRADE_STATUSES, type SignalKind } from "../../../src/core/rollout/states.ts";

export const TARGET = Digest.parse(`sha256:${"2".repeat(64)}`);
export const PREVIOUS = Digest.parse(`sha256:${"1".repeat(64)}`);

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type NodeRow = Writable<BatchNode> & { readonly batchIndex: number };
export type Command = Launch & { readonly commandId: CommandId; readonly at: number };
export type RolloutTable = ReturnType<typeof createRolloutTable>;

const uuid = (kind: number, n: number): string =>
  `${String(kind).padStart(8, "0")}-0000-4000-8000-${String(n).padStart(12, "0")}`;

const QUIET: HealthFacts = {
  heartbeatAt: null,
  applicationHealth: null,
  syncStatus: null,
  nodeState: "active",
  restarts: 0,
  runningFingerprint: null,
};

export function createRolloutTable(wish: { nodes: number; batchSize: number } & Partial<RolloutRow>) {
  const { nodes: count, batchSize, ...changes } = wish;
  let rollout: RolloutRow = {
    id: RolloutId.parse(uuid(1, 1)),
    status: "pending",
    batchCount: Math.ceil(count / batchSize),
    currentBatch: -1,
    failureThreshold: 0,
    healthWaitMs: 60_000,
    healthUntil: null,
    pauseRequested: false,
    cancelRequested: false,
    acknowledgedFailures: 0,
    intentNotAfter: null,
    rollbackAllowed: true,
    why: null,
    ...changes,
  };
  const nodes: NodeRow[] = Array.from({ length: count }, (_, n) => ({
    nodeId: NodeId.parse(uuid(2, n)),
    batchIndex: Math.floor(n / batchSize),
    status: "pending",
    phase: null,
    actionName: null,
    progressPct: 0,
    direction: "forward",
    attempt: 0,
    commandId: null,
    launchedAt: null,
    installedAt: null,
    errorCode: null,
    errorMessage: null,
    target: TARGET,
    previous: PREVIOUS,
    facts: QUIET,
  }));
  const commands: Command[] = [];
  const events: DecidedEvent[] = [];
  let [signals, reports]: [SignalRow[], ReportRow[]] = [[], []];
  let [wakeAt, lastId]: [number | null, number] = [null, 0];
  const rowOf = (nodeId: NodeId): NodeRow => nodes.find((node) => node.nodeId === nodeId)!;

  function load(): RolloutRows {
    const counts = Object.fromEntries(
      NODE_UPGRADE_STATUSES.map((status) => [status, nodes.filter((node) => node.status === status).length]),
    ) as RolloutRows["counts"];
    const batch = nodes
      .filter((node) => node.batchIndex === rollout.currentBatch)
      .map((node) => ({ ...node }));
    return { rollout, batch, counts, signals, reports };
  }

  function launch({ nodeId, direction, attempt }: Launch, now: number): void {
    const commandId = CommandId.parse(uuid(3, ++lastId));
    commands.push({ nodeId, direction, attempt, commandId, at: now });
    const sent = { status: "in_progress", phase: "PREPARING", actionName: null, progressPct: 0 } as const;
    const row = rowOf(nodeId);
    Object.assign(row, sent, { direction, attempt, commandId, launchedAt: now });
    row.facts = { ...row.facts, nodeState: "maintenance" };
  }

  function commit(decision: RolloutDecision, now: number): void {
    for (const { nodeId, ...patch } of decision.nodes) Object.assign(rowOf(nodeId), patch);
    const opened = nodes
      .filter((node) => node.batchIndex === decision.launchBatch && node.status === "pending")
      .map(({ nodeId }): Launch => ({ nodeId, direction: "forward", attempt: 1 }));
    for (const each of [...decision.launches, ...opened]) launch(each, now);
    for (const { nodeId, status } of decision.nodes.filter((node) => isSettled(node.status))) {
      const row = rowOf(nodeId);
      row.facts = { ...row.facts, nodeState: status === "failed_rollback" ? "degraded" : "active" };
    }
    if (decision.skipPending)
      for (const node of nodes) if (node.status === "pending") node.status = "skipped";
    [signals, reports] = [[], []];
    rollout = { ...rollout, ...decision.rollout };
    wakeAt = decision.wakeAt;
    events.push(...decision.events);
  }

  return {
    nodes,
    commands,
    events,
    load,
    rollout: () => rollout,
    wakeAt: () => wakeAt,
    statuses: () => nodes.map((node) => node.status),
    advance(now: number): RolloutDecision {
      const decision = decideRollout(load(), now);
      commit(decision, now);
      return decision;
    },
    signal(kind: SignalKind, reason: string | null = null): void {
      signals = [...signals, { id: ++lastId, kind, actor: "ann", reason }];
    },
    report(nodeId: NodeId, at: number, body: ReportRow["body"], commandId = rowOf(nodeId).commandId!): void {
      reports = [...reports, { id: ++lastId, nodeId, commandId, at, body }];
    },
    heartbeat(nodeId: NodeId, at: number, facts: Partial<HealthFacts> = {}): void {
      const row = rowOf(nodeId);
      const well = { applicationHealth: "ok", syncStatus: "synced", runningFingerprint: TARGET } as const;
      row.facts = { ...row.facts, ...well, heartbeatAt: at, ...facts };
    },
  };
}
