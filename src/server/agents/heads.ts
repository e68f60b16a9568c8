/**
 * Heads, signed when a node asks (SNAP-17, ADR 11).
 *
 * 1. Time is the database's: that is what revocations are dated with, on whatever replica they were written.
 * 2. A revocation is dated before it is committed: a head that was signed in between does not know it, though it is
 *    dated after it.
 */
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { HeadContent } from "../../core/snapshot/head.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import { signHead } from "../../trust/head.ts";
import type { Database } from "../db/database.ts";
import { signersAt, type Authority } from "../snapshots/authority.ts";
import type { StoredBundle } from "../snapshots/bundles.ts";
import type { SnapshotRow } from "./snapshot-rows.ts";

const REVOKED_MAX = 1_000;
/** No transaction is left waiting for longer: see `openDatabase`. */
const COMMIT_MAX_MS = 15_000;

interface DatedRevocation extends Revocation {
  readonly at: number;
}

export interface AuthorityTime {
  readonly now: number;
  /** Of the node and of everyone, newest first. */
  revoked(nodeId: NodeId): readonly DatedRevocation[];
}

export async function readAuthorityTime(db: Database, nodeIds: readonly NodeId[]): Promise<AuthorityTime> {
  const rows = await db<
    { now: Date; node_id: NodeId | null; kind: Revocation["kind"] | null; id: string; at: Date }[]
  >`
    select t.now, r.node_id, r.kind, r.subject as id, r.created_at as at
    from (select clock_timestamp() as now) t
    left join authority_revocations r on r.node_id is null or r.node_id = any(${nodeIds})
    order by r.seq desc`; // (1)
  const found = rows.flatMap(({ node_id, kind, id, at }) =>
    kind === null ? [] : [{ nodeId: node_id, kind, id, at: at.getTime() }],
  );
  const byNode = Map.groupBy(found, (row) => row.nodeId);
  const everyone = byNode.get(null) ?? [];
  return {
    now: rows[0]!.now.getTime(),
    revoked: (nodeId) => [...(byNode.get(nodeId) ?? []), ...everyone],
  };
}

export function isHeadDue(
  { nodeId, headIssuedAt }: { readonly nodeId: NodeId; readonly headIssuedAt: number | null },
  { now, revoked }: AuthorityTime,
): boolean {
  if (headIssuedAt === null || now - headIssuedAt >= LIMITS.headRefreshMs) return true;
  return revoked(nodeId).some(({ at }) => at > headIssuedAt);
}

/** (2) */
export const mayLackRevocation = (
  { nodeId, headIssuedAt }: { readonly nodeId: NodeId; readonly headIssuedAt: number | null },
  { revoked }: AuthorityTime,
): boolean => revoked(nodeId).some(({ at }) => at > (headIssuedAt ?? 0) - COMMIT_MAX_MS);

export function signHeadFor(authority: Authority, bundle: StoredBundle, { now, revoked }: AuthorityTime) {
  const { epoch, version, contentHash } = bundle;
  const signers = signersAt(authority, now);
  return (nodeId: NodeId, rows: readonly SnapshotRow[]): string => {
    const scopes: HeadContent["scopes"] = {};
    for (const row of rows)
      scopes[row.scope] = { content_hash: row.contentHash, epoch: row.epoch, version: row.version };
    scopes.trust_bundle = { content_hash: contentHash, epoch, version };
    const content: HeadContent = {
      revoked: revoked(nodeId)
        .slice(0, REVOKED_MAX)
        .map(({ kind, id }) => ({ id, kind })),
      scopes,
    };
    const draft = {
      clusterId: authority.clusterId,
      nodeId,
      epoch,
      issuedAt: now,
      lifetimeMs: LIMITS.headLifetimeMs,
      content,
    };
    return signHead(draft, signers).toString("base64");
  };
}
