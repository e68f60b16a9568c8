/** The published snapshots of nodes that ask: the frames that they lack, and of all of them what a head says. */
import type { Digest, NodeId } from "../../core/ids.ts";
import type { PollRequest } from "../../core/protocol/agent-api.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { CompiledScope } from "../../core/snapshot/roles.ts";
import { joinFrame } from "../../trust/frame.ts";
import type { Database } from "../db/database.ts";
import type { StoredBundle } from "../snapshots/bundles.ts";

export interface SnapshotRow extends SnapshotVersion {
  readonly scope: CompiledScope;
  readonly contentHash: Digest;
  /** An increment to whoever stands on its base and did not refuse one; nothing to whoever has it. */
  readonly handed: "full" | "increment" | "nothing";
  frame(): Buffer;
}

export interface SnapshotQuery {
  readonly nodeId: NodeId;
  readonly have: PollRequest["have"];
  readonly resync: PollRequest["resync"];
  /** A head is signed for it: every scope is wanted, also those that it has. */
  readonly head: boolean;
}

interface Row {
  /** Of the query that it answers, from 1. */
  readonly place: number;
  readonly scope: CompiledScope;
  readonly epoch: number;
  readonly version: number;
  readonly content_hash: Digest;
  readonly base: number | null;
  readonly believed: boolean;
  /** Null where the node has it already. */
  readonly header: Buffer | null;
  readonly signatures: Buffer | null;
  readonly increment: Buffer | null;
}

type Found = Row & { readonly handed: SnapshotRow["handed"] };

const NONE: SnapshotVersion = { epoch: 0, version: 0 };

/**
 * Snapshots of another epoch than the bundle's, or by a key that it does not name, are on their way in or out: nobody
 * could accept them. What a node is comes before what it may do: while its bootstrap is on its way, so is the rest.
 * What several nodes get is read once. One list for each query, in their order.
 */
export async function findSnapshots(
  db: Database,
  queries: readonly SnapshotQuery[],
  bundle: Pick<StoredBundle, "epoch" | "content">,
): Promise<SnapshotRow[][]> {
  const rows = Map.groupBy(await readRows(db, queries, bundle), (row) => row.place);
  const found = queries.map((query, at) => wanted(query, rows.get(at + 1) ?? []));
  const contents = await readContents(
    db,
    found.flatMap((own) => own.filter((row) => row.handed === "full").map((row) => row.content_hash)),
  );
  return found.map((own) =>
    own.map((row) => ({
      scope: row.scope,
      epoch: row.epoch,
      version: row.version,
      contentHash: row.content_hash,
      handed: row.handed,
      frame: () =>
        row.handed === "increment"
          ? row.increment!
          : joinFrame(row.header!, contents.get(row.content_hash)!, row.signatures!),
    })),
  );
}

/**
 * In one statement, so that what a head says and what is handed over are of one moment. `offset 0` keeps the planner
 * from working out the same thing for each column that needs it.
 */
async function readRows(
  db: Database,
  queries: readonly SnapshotQuery[],
  { epoch, content: { online_keys, revoked_keys } }: Pick<StoredBundle, "epoch" | "content">,
): Promise<Row[]> {
  const believed = online_keys.map((key) => key.key_id).filter((id) => !revoked_keys.includes(id));
  return db<Row[]>`
    select q.place::int, s.scope_type as scope, s.authority_epoch as epoch, s.config_version as version, s.content_hash,
      s.increment_base as base, s.authority_epoch = ${epoch} and s.signer_key_id = any(${believed}) as believed,
      case when is_new then s.header end as header,
      case when is_new then s.signatures end as signatures,
      case when is_new and s.increment_base = h.version then s.increment end as increment
    from unnest(
      ${queries.map(({ nodeId }) => nodeId)}::uuid[],
      ${queries.map(({ have }) => JSON.stringify(have))}::text[]::jsonb[]
    ) with ordinality as q(node_id, have, place)
    join snapshots s on s.node_id = q.node_id
    cross join lateral (select q.have->s.scope_type as held offset 0) has
    cross join lateral (
      select coalesce((held->>'epoch')::bigint, 0) as epoch, coalesce((held->>'version')::bigint, 0) as version offset 0
    ) h
    cross join lateral (
      select (s.authority_epoch, s.config_version) > (h.epoch, h.version) as is_new offset 0
    ) compared
    order by s.scope_type`;
}

function wanted({ have, resync, head }: SnapshotQuery, own: readonly Row[]): Found[] {
  if (own.some((row) => row.scope === "node_bootstrap" && !row.believed)) return [];
  return own
    .filter((row) => row.believed)
    .map((row) => ({ ...row, handed: handedOf(row, have[row.scope] ?? NONE, resync.includes(row.scope)) }))
    .filter((row) => head || row.handed !== "nothing");
}

function handedOf(row: Row, held: SnapshotVersion, resync: boolean): SnapshotRow["handed"] {
  if (row.header === null) return "nothing";
  const stands = row.base === held.version && row.epoch === held.epoch;
  return stands && row.increment !== null && !resync ? "increment" : "full";
}

async function readContents(db: Database, hashes: readonly Digest[]): Promise<Map<Digest, Buffer>> {
  if (hashes.length === 0) return new Map();
  const rows = await db<{ content_hash: Digest; bytes: Buffer }[]>`
    select content_hash, bytes from snapshot_contents where content_hash = any(${[...new Set(hashes)]})`;
  return new Map(rows.map((row) => [row.content_hash, row.bytes]));
}
