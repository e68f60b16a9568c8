/** How a node stands in one scope: what was published for it, against what it said it applied. */
import type { SnapshotVersion } from "../snapshot/envelope.ts";

/** Worst first: of several scopes, the first of these speaks for the node. */
export const SNAPSHOT_STATES = [
  "rejected",
  "refused_by_compiler",
  "expired",
  "behind",
  "expiring",
  "never",
  "in_force",
] as const;
export type SnapshotState = (typeof SNAPSHOT_STATES)[number];

/** A node that has nothing yet is waiting, not in trouble. */
export const wantsAttention = (state: SnapshotState): boolean => state !== "in_force" && state !== "never";

export interface ScopeFacts {
  readonly published:
    | (SnapshotVersion & {
        readonly issuedAt: number;
        readonly refreshAfter: number;
        readonly expiresAt: number;
      })
    | null;
  readonly applied: SnapshotVersion | null;
  /** Of the applied version; null when it is not known here. */
  readonly appliedExpiresAt: number | null;
  /** The newest rejection in this scope. */
  readonly rejection: { readonly version: SnapshotVersion | null; readonly at: number } | null;
  /** The compiler would not sign the newest state of the rows. */
  readonly refused: boolean;
}

export const sameVersion = (a: SnapshotVersion, b: SnapshotVersion): boolean =>
  a.epoch === b.epoch && a.version === b.version;

export function snapshotState(facts: ScopeFacts, now: number): SnapshotState {
  const { published, applied, appliedExpiresAt } = facts;
  if (stillRejects(facts)) return "rejected";
  if (facts.refused) return "refused_by_compiler";
  if (applied === null) return "never";
  if (published === null) return "in_force";
  const current = sameVersion(applied, published);
  const end = current ? published.expiresAt : appliedExpiresAt;
  if (end !== null && end <= now) return "expired";
  if (!current) return "behind";
  return published.refreshAfter <= now ? "expiring" : "in_force";
}

/** A rejection counts until the node has applied what is published, or something newer was published. */
function stillRejects({ published, applied, rejection }: ScopeFacts): boolean {
  if (rejection === null || published === null) return false;
  if (applied !== null && sameVersion(applied, published)) return false;
  return rejection.version === null
    ? rejection.at >= published.issuedAt
    : sameVersion(rejection.version, published);
}
