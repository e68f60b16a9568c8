/** Heartbeats become rows in batches: one statement for all that came within a few milliseconds. */
import type { NodeId } from "../../core/ids.ts";
import type { Heartbeat } from "../../core/protocol/agent-api.ts";
import type { Database, Queryable } from "../db/database.ts";
import { createBatcher } from "./batcher.ts";

export interface NodeHeartbeat {
  readonly nodeId: NodeId;
  readonly heartbeat: Heartbeat;
}

export type StoreHeartbeat = (heartbeat: NodeHeartbeat) => Promise<void>;

export function createHeartbeatStore(db: Database, onStored: (count: number) => void): StoreHeartbeat {
  const known = new Set<NodeId>();
  return createBatcher<NodeHeartbeat, void>(
    async (items) => {
      const newest = [...new Map(items.map((item) => [item.nodeId, item])).values()];
      await upsertHeartbeats(db, newest);
      await recordProvisioned(
        db,
        newest.filter(({ nodeId }) => !known.has(nodeId)),
      );
      for (const { nodeId } of newest) known.add(nodeId);
      onStored(items.length);
      return items.map(() => undefined);
    },
    { itemsMax: 1_000, lingerMs: 5, concurrentMax: 2 },
  );
}

/** Ordered by id, so that two batches that share nodes cannot wait for each other in a circle. */
export async function upsertHeartbeats(db: Queryable, items: readonly NodeHeartbeat[]): Promise<void> {
  const ordered = items.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  const column = (pick: (item: NodeHeartbeat) => string | null) => ordered.map(pick);
  await db`
    insert into node_heartbeats (node_id, received_at, agent_version, applied, programs, last_rejection)
    select node_id, clock_timestamp(), agent_version, applied::jsonb, programs::jsonb, last_rejection::jsonb
    from unnest(
      ${column((item) => item.nodeId)}::uuid[],
      ${column((item) => item.heartbeat.agent_version)}::text[],
      ${column((item) => JSON.stringify(item.heartbeat.applied))}::text[],
      ${column((item) => JSON.stringify(item.heartbeat.programs))}::text[],
      ${column((item) => (item.heartbeat.last_rejection === null ? null : JSON.stringify(item.heartbeat.last_rejection)))}::text[]
    ) as t(node_id, agent_version, applied, programs, last_rejection)
    on conflict (node_id) do update set received_at = excluded.received_at, agent_version = excluded.agent_version,
      applied = excluded.applied, programs = excluded.programs, last_rejection = excluded.last_rejection`;
}

/** What a node was provisioned with, taken from its first heartbeat and never again (ROLL-21). */
async function recordProvisioned(db: Queryable, items: readonly NodeHeartbeat[]): Promise<void> {
  const rows = items.flatMap(({ nodeId, heartbeat }) =>
    heartbeat.programs
      .filter((program) => program.version !== null)
      .map((program) => ({
        node_id: nodeId,
        profile: program.chain_profile_id,
        version: program.version,
        fingerprint: program.installed_fingerprint,
      })),
  );
  if (rows.length === 0) return;
  await db`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select p.node_id, p.profile, p.version, p.fingerprint
    from jsonb_to_recordset(${db.json(rows)}) as p(node_id uuid, profile text, version text, fingerprint text)
    join nodes n on n.id = p.node_id and n.chain_profile_id = p.profile
    on conflict do nothing`;
}
