/** The rows of a rollout that has just been created, by what a test wishes of it. */
import { Digest, NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { HealthFacts } from "../../../src/core/rollout/health.ts";
import type { BatchNode, RolloutRow } from "../../../src/core/rollout/rows.ts";

export const TARGET = Digest.parse(`sha256:${"2".repeat(64)}`);
export const PREVIOUS = Digest.parse(`sha256:${"1".repeat(64)}`);

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type NodeRow = Writable<BatchNode>;

export const uuid = (kind: number, n: number): string =>
  `${String(kind).padStart(8, "0")}-0000-4000-8000-${String(n).padStart(12, "0")}`;

const QUIET: HealthFacts = {
  heartbeatAt: null,
  applicationHealth: null,
  syncStatus: null,
  nodeState: "active",
  restarts: 0,
  runningFingerprint: null,
};

export interface TableWish extends Partial<RolloutRow> {
  readonly nodes: number;
  readonly batchSize: number;
  /** The first batch of a canary. */
  readonly canarySize?: number;
  /** Value of the limited label, by the node's number. */
  readonly labelOf?: (n: number) => string | null;
  /** Tells the nodes of one table from those of another. */
  readonly number?: number;
  /** Instead of nodes of its own. */
  readonly nodeIds?: readonly NodeId[];
  readonly target?: Digest;
  readonly previousOf?: (n: number) => Digest | null;
  readonly launchesPerStep?: number;
  readonly settlesPerStep?: number;
}

export function createdRows(wish: TableWish) {
  const { nodes: count, batchSize, canarySize, labelOf = () => null, number = 1, ...more } = wish;
  const { nodeIds, target = TARGET, previousOf = () => PREVIOUS, launchesPerStep = 100, ...others } = more;
  const { settlesPerStep = 100, ...changes } = others;
  const batchOf = (n: number): number => {
    if (canarySize === undefined) return Math.floor(n / batchSize);
    return n < canarySize ? 0 : 1 + Math.floor((n - canarySize) / batchSize);
  };
  const rollout: RolloutRow = {
    id: RolloutId.parse(uuid(1, number)),
    status: "pending",
    strategy: canarySize === undefined ? "rolling" : "canary",
    migrationType: "none",
    recoveryPlan: null,
    batchCount: count === 0 ? 0 : batchOf(count - 1) + 1,
    currentBatch: -1,
    failureThreshold: 0,
    forceContinue: false,
    skipValidation: false,
    maxUnavailable: null,
    healthWaitMs: 60_000,
    healthUntil: null,
    pauseRequested: false,
    cancelRequested: false,
    rollbackRequested: false,
    canaryApprovedBy: null,
    canaryApprovedAt: null,
    acknowledgedFailures: 0,
    intentNotAfter: null,
    intentCalledOff: false,
    intentUntrusted: null,
    rollbackAllowed: true,
    why: null,
    ...changes,
  };
  const nodes: NodeRow[] = Array.from({ length: count }, (_, n) => ({
    nodeId: nodeIds?.[n] ?? NodeId.parse(uuid(2, number * 1000 + n)),
    batchIndex: batchOf(n),
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
    retryRequested: false,
    silentSince: null,
    isRevoked: false,
    target,
    previous: previousOf(n),
    recorded: previousOf(n),
    stands: null,
    measured: null,
    assigned: true,
    labelValue: labelOf(n),
    elsewhere: null,
    waitingFor: null,
    facts: QUIET,
  }));
  return { rollout, nodes, target, number, bounds: { launchesPerStep, settlesPerStep } };
}
