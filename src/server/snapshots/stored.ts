/** The rows of published snapshots: the newest of each node and scope, a few before it, whose contents stand in contents.ts. */
import type { Digest, NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { SnapshotHeader } from "../../core/snapshot/envelope.ts";
import type { CompiledScope } from "../../core/snapshot/roles.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";

export interface LastPublished {
  readonly epoch: number;
  readonly version: number;
  readonly contentHash: Digest;
  readonly refreshAfter: number;
}

export interface LastHeader extends LastPublished {
  readonly header: Buffer;
}

export interface NodeScope {
  readonly nodeId: NodeId;
  readonly scope: CompiledScope;
}

export const keyOf = ({ nodeId, scope }: NodeScope): string => `${nodeId} ${scope}`;

interface PublishedRow {
  readonly node_id: NodeId;
  readonly scope_type: CompiledScope;
  readonly authority_epoch: number;
  readonly config_version: number;
  readonly content_hash: Digest;
  readonly refresh_after: Date;
}

export const readPublished = async (
  tx: Transaction,
  items: readonly NodeScope[],
): Promise<Map<string, LastPublished>> => new Map((await rowsOf(tx, items)).map(lastOf));

/** For who compares what a header says. */
export async function readHeaders(
  tx: Transaction,
  items: readonly NodeScope[],
): Promise<Map<string, LastHeader>> {
  const rows = await rowsOf<PublishedRow & { readonly header: Buffer }>(tx, items, tx`, s.header`);
  return new Map(
    rows.map((row) => {
      const [key, last] = lastOf(row);
      return [key, { ...last, header: row.header }];
    }),
  );
}

const rowsOf = <Row extends PublishedRow = PublishedRow>(
  tx: Transaction,
  items: readonly NodeScope[],
  more = tx``,
) =>
  tx<Row[]>`
    select s.node_id, s.scope_type, s.authority_epoch, s.config_version, s.content_hash, s.refresh_after ${more}
    from unnest(${items.map((item) => item.nodeId)}::uuid[], ${items.map((item) => item.scope)}::text[]) as q(node_id, scope)
    join snapshots s on s.node_id = q.node_id and s.scope_type = q.scope`;

const lastOf = (row: PublishedRow): [string, LastPublished] => [
  keyOf({ nodeId: row.node_id, scope: row.scope_type }),
  {
    epoch: row.authority_epoch,
    version: row.config_version,
    contentHash: row.content_hash,
    refreshAfter: row.refresh_after.getTime(),
  },
];

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
    () => dropOld(tx, snapshots),
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

/** What is about to be replaced. */
async function keepReplaced(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  await tx`
    insert into snapshot_history (node_id, scope_type, authority_epoch, config_version, content_hash, header, signatures)
    select s.node_id, s.scope_type, s.authority_epoch, s.config_version, s.content_hash, s.header, s.signatures
    from unnest(${snapshots.map(({ nodeId }) => nodeId)}::uuid[], ${snapshots.map(({ scope }) => scope)}::text[]) as q(node_id, scope)
    join snapshots s on s.node_id = q.node_id and s.scope_type = q.scope
    on conflict do nothing`;
}

/** Versions go up by one; those of the epoch before go when the new one has as many as are kept. */
async function dropOld(tx: Transaction, snapshots: readonly NewSnapshot[]): Promise<void> {
  const kept = LIMITS.snapshotVersionsKept;
  const column = <T>(pick: (snapshot: NewSnapshot) => T) => snapshots.map(pick);
  await tx`
    delete from snapshot_history h using unnest(
      ${column((s) => s.nodeId)}::uuid[],
      ${column((s) => s.scope)}::text[],
      ${column((s) => s.header.authority_epoch)}::bigint[],
      ${column((s) => s.header.config_version)}::bigint[]
    ) as n(node_id, scope, epoch, version)
    where h.node_id = n.node_id and h.scope_type = n.scope
      and case when h.authority_epoch = n.epoch then h.config_version <= n.version - ${kept}
        else h.authority_epoch < n.epoch - case when n.version >= ${kept} then 0 else 1 end end`;
}
