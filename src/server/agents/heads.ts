/**
 * Heads, signed when a node asks (SNAP-17, ADR 11).
 *
 * 1. Time is the database's: that is what revocations are dated with, on whatever replica they were written.
 * 2. A revocation is dated before it is committed: a head that was signed in between does not know it, though it is
 *    dated after it.
 */
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { REVOKES_BYTES } from "../../core/protocol/agent-protocol.ts";
import type { HeadContent } from "../../core/snapshot/head.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import { signHead } from "../../trust/head.ts";
import type { SealedPage } from "../../trust/revocation-page.ts";
import { signersAt, type Authority } from "../snapshots/authority.ts";
import type { StoredBundle } from "../snapshots/bundles.ts";
import type { SnapshotRow } from "./snapshot-rows.ts";

/** No transaction is left waiting for longer: see `openDatabase`. */
const COMMIT_MAX_MS = 15_000;

/** `older`: an agent that refuses a head with a kind of revocation that it does not know. */
export type HeadReader = "newer" | "older";

export const headReader = (capabilities: readonly string[] = []): HeadReader =>
  capabilities.includes(REVOKES_BYTES) ? "newer" : "older";

export interface AuthorityTime {
  readonly now: number;
  /** When something was last revoked for the node or for everyone; minus infinity where nothing was. */
  newestAt(nodeId: NodeId): number;
  /** All that was revoked for it, as a head names it: without the kinds that an older agent does not read. */
  paged(
    nodeId: NodeId,
    reader?: HeadReader,
  ): { readonly rest: readonly Revocation[]; readonly pages: readonly SealedPage[] };
}

export function isHeadDue(
  { nodeId, headIssuedAt }: { readonly nodeId: NodeId; readonly headIssuedAt: number | null },
  { now, newestAt }: AuthorityTime,
): boolean {
  if (headIssuedAt === null || now - headIssuedAt >= LIMITS.headRefreshMs) return true;
  return newestAt(nodeId) > headIssuedAt;
}

/** (2) */
export const mayLackRevocation = (
  { nodeId, headIssuedAt }: { readonly nodeId: NodeId; readonly headIssuedAt: number | null },
  { newestAt }: Pick<AuthorityTime, "newestAt">,
): boolean => newestAt(nodeId) > (headIssuedAt ?? 0) - COMMIT_MAX_MS;

export function signHeadFor(authority: Authority, bundle: StoredBundle, { now, paged }: AuthorityTime) {
  const { epoch, version, contentHash } = bundle;
  const signers = signersAt(authority, now);
  return (nodeId: NodeId, rows: readonly SnapshotRow[], reader?: HeadReader): string => {
    const scopes: HeadContent["scopes"] = {};
    for (const row of rows)
      scopes[row.scope] = { content_hash: row.contentHash, epoch: row.epoch, version: row.version };
    scopes.trust_bundle = { content_hash: contentHash, epoch, version };
    const { rest, pages } = paged(nodeId, reader);
    const content: HeadContent = {
      revoked: [...rest],
      scopes,
      ...(pages.length === 0 ? {} : { revoked_pages: pages.map(({ digest }) => digest) }),
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
