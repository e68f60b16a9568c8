/**
 * A token bucket per node: one node that asks without a pause must not take the others' share of this replica.
 *
 * 1. The bound belongs to the node, by its certificate: more connections or a new certificate give no more requests.
 * 2. An agent's own needs stay far below it. In an upgrade it polls, beats and reports a few times a second, and fetches
 *    up to 64 config files at once; after a reconnect it sends its stored reports in one request of 50.
 */
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";

export interface RequestBudget {
  /** 0: go on. Otherwise the milliseconds after which the node may ask again. */
  take(nodeId: NodeId, nowMs: number): number;
}

interface Bucket {
  tokens: number;
  filledAtMs: number;
}

export function createRequestBudget(
  perSecond: number = LIMITS.nodeRequestsPerSecondMax,
  burst: number = LIMITS.nodeRequestsBurstMax,
): RequestBudget {
  const buckets = new Map<NodeId, Bucket>(); // (1) no more of them than enrolled nodes
  return {
    take(nodeId, nowMs) {
      const bucket = buckets.get(nodeId) ?? { tokens: burst, filledAtMs: nowMs };
      buckets.set(nodeId, bucket);
      const earned = (Math.max(0, nowMs - bucket.filledAtMs) * perSecond) / 1000;
      bucket.tokens = Math.min(burst, bucket.tokens + earned);
      bucket.filledAtMs = nowMs;
      if (bucket.tokens < 1) return Math.ceil(((1 - bucket.tokens) * 1000) / perSecond);
      bucket.tokens -= 1;
      return 0;
    },
  };
}
