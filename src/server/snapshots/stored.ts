/** The rows of published snapshots: the newest of each node and scope, a few before it, and the contents they share. */
import type { Digest, NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { SnapshotHeader } from "../../core/snapshot/envelope.ts";
import type { CompiledScope } from "../../core/snapshot/roles.ts";
import type { SealedContent } from "../../trust/sealed-content.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";

export interface LastPublished {
  readonly epoch: number;
  readonly version: number;
  readonly contentHash: Digest;
  readonly header: Buffer;
  readonly refreshAfter: number;
}

export interface NodeScope {
  readonly nodeId: NodeId;
  readonly scope: CompiledScope;
}

export const keyOf = ({ nodeId, scope }: NodeScope): string => `${nodeId} ${scope}`;

export async function readPublished(
  tx: Transaction,
  items: readonly NodeScope[],
): Promise<Map<string, LastPublished>> {
  const rows = await tx<
    {
      node_id: NodeId;
      scope_type: CompiledScope;
      authority_epoch: number;
      config_version: number;
      content_hash: Digest;
      header: Buffer;
      refresh_after: Date;
    }[]
  >`
    select s.node_id, s.scope_type, s.authority_epoch, s.config_version, s.content_hash, s.header, s.refresh_after
    from unnest(${items.map((item) => item.nodeId)}::uuid[], ${items.map((item) => item.scope)}::text[]) as q(node_id, scope)
    join snapshots s on s.node_id = q.node_id and s.scope_type = q.scope`;
  return new Map(
    rows.map((row) => [
      keyOf({ nodeId: row.node_id, scope: row.scope_type }),
      {
        epoch: row.authority_epoch,
        version: row.config_version,
        contentHash: row.content_hash,
        header: row.header,
        refreshAfter: row.refresh_after.getTime(),
      },
    ]),
  );
}

export interface NewSnapshot extends NodeScope {
  readonly header: SnapshotHeader;
  readonly headerBytes: Buffer;
  readonly content: Buffer;
  readonly signatures: Buffer;
  /** The way here from the version before, where it is shorter than the content. */
  readonly increment: { readonly base: number; readonly frame: Buffer } | null;
}

/** The contents are there already. */
export async function storeSnapshots(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  if (snapshots.length === 0) return;
  await pipelined(
    () => keepReplaced(tx, snapshots),
    () => replace(tx, snapshots),
  );
}

async function replace(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  const column = <T>(pick: (snapshot: NewSnapshot) => T) => snapshots.map(pick);
  await tx`
    insert into snapshots (node_id, scope_type, authority_epoch, config_version, content_hash, header, signatures,
      signer_key_id, issued_at, refresh_after, expires_at, increment_base, increment)
    select n.node_id, n.scope, n.epoch, n.version, n.hash, decode(n.header, 'base64'), decode(n.signatures, 'base64'),
      n.signer, n.issued_at, n.refresh_after, n.expires_at, n.base, decode(n.increment, 'base64')
    from unnest(
      ${column((s) => s.nodeId)}::uuid[],
      ${column((s) => s.scope)}::text[],
      ${column((s) => s.header.authority_epoch)}::bigint[],
      ${column((s) => s.header.config_version)}::bigint[],
      ${column((s) => s.header.content_hash)}::text[],
      ${column((s) => s.headerBytes.toString("base64"))}::text[],
      ${column((s) => s.signatures.toString("base64"))}::text[],
      ${column((s) => s.header.signer_key_id)}::text[],
      ${column((s) => s.header.issued_at)}::text[]::timestamptz[],
      ${column((s) => s.header.refresh_after)}::text[]::timestamptz[],
      ${column((s) => s.header.expires_at)}::text[]::timestamptz[],
      ${column((s) => s.increment?.base ?? null)}::bigint[],
      ${column((s) => s.increment?.frame.toString("base64") ?? null)}::text[]
    ) as n(node_id, scope, epoch, version, hash, header, signatures, signer, issued_at, refresh_after, expires_at, base, increment)
    on conflict (node_id, scope_type) do update set authority_epoch = excluded.authority_epoch,
      config_version = excluded.config_version, content_hash = excluded.content_hash, header = excluded.header,
      signatures = excluded.signatures, signer_key_id = excluded.signer_key_id, issued_at = excluded.issued_at,
      refresh_after = excluded.refresh_after, expires_at = excluded.expires_at,
      increment_base = excluded.increment_base, increment = excluded.increment`;
}

/** In one order, so that two publishers of the same contents cannot wait for each other in a circle. */
export async function storeContents(
  tx: Transaction,
  items: readonly { readonly content: SealedContent }[],
): Promise<void> {
  if (items.length === 0) return;
  const contents = new Map(items.map(({ content }) => [content.content_hash, content.bytes]));
  const hashes = [...contents.keys()].toSorted();
  await tx`
    insert into snapshot_contents (content_hash, bytes)
    select c.hash, decode(c.bytes, 'base64')
    from unnest(${hashes}::text[], ${hashes.map((hash) => contents.get(hash)!.toString("base64"))}::text[]) as c(hash, bytes)
    on conflict do nothing`;
}

async function keepReplaced(tx: Transaction, replaced: readonly NewSnapshot[]): Promise<void> {
  const nodeIds = replaced.map((snapshot) => snapshot.nodeId);
  const scopes = replaced.map((snapshot) => snapshot.scope);
  const kept = await tx`
    insert into snapshot_history (node_id, scope_type, authority_epoch, config_version, content_hash, header, signatures)
    select s.node_id, s.scope_type, s.authority_epoch, s.config_version, s.content_hash, s.header, s.signatures
    from unnest(${nodeIds}::uuid[], ${scopes}::text[]) as q(node_id, scope)
    join snapshots s on s.node_id = q.node_id and s.scope_type = q.scope
    on conflict do nothing returning 1`;
  if (kept.length === 0) return;
  await tx`
    delete from snapshot_history h using (
      select k.node_id, k.scope_type, k.authority_epoch, k.config_version,
        row_number() over (partition by k.node_id, k.scope_type order by k.authority_epoch desc, k.config_version desc) as place
      from unnest(${nodeIds}::uuid[], ${scopes}::text[]) as q(node_id, scope)
      join snapshot_history k on k.node_id = q.node_id and k.scope_type = q.scope
    ) old
    where old.place >= ${LIMITS.snapshotVersionsKept} and h.node_id = old.node_id and h.scope_type = old.scope_type
      and h.authority_epoch = old.authority_epoch and h.config_version = old.config_version`;
}
