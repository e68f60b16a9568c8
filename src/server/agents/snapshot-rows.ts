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
  readonly node_id: NodeId;
  readonly scope: CompiledScope;
  readonly epoch: number;
  readonly version: number;
  readonly content_hash: Digest;
  readonly handed: SnapshotRow["handed"];
  readonly header: Buffer | null;
  readonly signatures: Buffer | null;
  readonly increment: Buffer | null;
}

/**
 * Snapshots of another epoch than the bundle's, or by a key that it does not name, are on their way in or out: nobody
 * could accept them. What a node is comes before what it may do: while its bootstrap is on its way, so is the rest.
 * What several nodes get is read once.
 */
export async function findSnapshots(
  db: Database,
  queries: readonly SnapshotQuery[],
  { epoch, content: bundle }: Pick<StoredBundle, "epoch" | "content">,
): Promise<Map<NodeId, SnapshotRow[]>> {
  const believed = bundle.online_keys
    .map((key) => key.key_id)
    .filter((id) => !bundle.revoked_keys.includes(id));
  const asked = queries.map(({ nodeId, have, resync, head }) => ({ node_id: nodeId, have, resync, head }));
  const rows = await db<Row[]>`
    select s.node_id, s.scope_type as scope, s.authority_epoch as epoch, s.config_version as version, s.content_hash, s.handed,
      case when s.handed = 'full' then s.header end as header,
      case when s.handed = 'full' then s.signatures end as signatures,
      case when s.handed = 'increment' then s.increment end as increment
    from jsonb_to_recordset(${db.json(asked)}) as q(node_id uuid, have jsonb, resync jsonb, head boolean)
    cross join lateral (
      select p.*,
        case when (p.authority_epoch, p.config_version) <= (h.epoch, h.version) then 'nothing'
             when p.increment_base = h.version and p.authority_epoch = h.epoch and not q.resync ? p.scope_type then 'increment'
             else 'full' end as handed
      from snapshots p
      cross join lateral (
        select coalesce((q.have->p.scope_type->>'epoch')::bigint, 0) as epoch,
          coalesce((q.have->p.scope_type->>'version')::bigint, 0) as version
      ) h
      where p.node_id = q.node_id and p.authority_epoch = ${epoch} and p.signer_key_id = any(${believed})
        and not exists (select 1 from snapshots b where b.node_id = p.node_id and b.scope_type = 'node_bootstrap'
          and (b.authority_epoch <> ${epoch} or b.signer_key_id <> all(${believed})))
      offset 0 -- each node's own few rows, by their key, whatever the statistics say
    ) s
    where s.handed <> 'nothing' or q.head
    order by s.scope_type`;
  const contents = await readContents(
    db,
    rows.filter((row) => row.handed === "full").map((row) => row.content_hash),
  );
  return Map.groupBy(
    rows.map((row) => ({
      nodeId: row.node_id,
      scope: row.scope,
      epoch: row.epoch,
      version: row.version,
      contentHash: row.content_hash,
      handed: row.handed,
      frame: () => row.increment ?? joinFrame(row.header!, contents.get(row.content_hash)!, row.signatures!),
    })),
    (row) => row.nodeId,
  );
}

async function readContents(db: Database, hashes: readonly Digest[]): Promise<Map<Digest, Buffer>> {
  if (hashes.length === 0) return new Map();
  const rows = await db<{ content_hash: Digest; bytes: Buffer }[]>`
    select content_hash, bytes from snapshot_contents where content_hash = any(${[...new Set(hashes)]})`;
  return new Map(rows.map((row) => [row.content_hash, row.bytes]));
}
