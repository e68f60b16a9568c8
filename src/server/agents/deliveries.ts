/** What waits for a node: snapshots newer than it has, commands above its mark. Looked up for many nodes at once. */
import type { NodeId } from "../../core/ids.ts";
import type { CommandDelivery, PollRequest } from "../../core/protocol/agent-api.ts";
import type { MerkleProof } from "../../core/protocol/intent.ts";
import type { Database } from "../db/database.ts";
import { createBatcher } from "./batcher.ts";

export interface Delivery {
  readonly snapshots: readonly string[];
  readonly commands: readonly CommandDelivery[];
  readonly voidIntents: readonly string[];
}

export interface DeliveryQuery {
  readonly nodeId: NodeId;
  readonly have: PollRequest["have"];
  readonly mark: number;
  readonly serials: PollRequest["intent_serials"];
}

export type FindDelivery = (query: DeliveryQuery) => Promise<Delivery>;

const VOID_INTENTS_MAX = 16;

export function createDeliveryFinder(
  db: Database,
  newestBundle: () => Promise<{ version: number; frame: string }>,
): FindDelivery {
  return createBatcher<DeliveryQuery, Delivery>(
    async (queries) => {
      const [bundle, snapshots, commands, voids] = await Promise.all([
        newestBundle(),
        findSnapshots(db, queries),
        findCommands(db, queries),
        findVoidIntents(db, queries),
      ]);
      return queries.map(({ nodeId, have }) => ({
        snapshots: [
          ...((have.trust_bundle?.version ?? 0) < bundle.version ? [bundle.frame] : []),
          ...(snapshots.get(nodeId) ?? []),
        ],
        commands: commands.get(nodeId) ?? [],
        voidIntents: (voids.get(nodeId) ?? []).slice(-VOID_INTENTS_MAX),
      }));
    },
    { itemsMax: 500, lingerMs: 2, concurrentMax: 2 },
  );
}

async function findSnapshots(
  db: Database,
  queries: readonly DeliveryQuery[],
): Promise<Map<NodeId, string[]>> {
  const asked = queries.map(({ nodeId, have }) => ({
    node_id: nodeId,
    epoch: have.service_assignment?.epoch ?? 0,
    version: have.service_assignment?.version ?? 0,
  }));
  const rows = await db<{ node_id: NodeId; frame: Buffer }[]>`
    select s.node_id, s.frame from snapshots s
    join jsonb_to_recordset(${db.json(asked)}) as q(node_id uuid, epoch bigint, version bigint) on q.node_id = s.node_id
    where s.scope_type = 'service_assignment' and (s.authority_epoch, s.config_version) > (q.epoch, q.version)`;
  return collect(rows.map((row) => [row.node_id, row.frame.toString("base64")]));
}

async function findCommands(
  db: Database,
  queries: readonly DeliveryQuery[],
): Promise<Map<NodeId, CommandDelivery[]>> {
  const asked = queries.map(({ nodeId, mark }) => ({ node_id: nodeId, mark }));
  const rows = await db<
    { node_id: NodeId; frame: Buffer; intent_frame: Buffer | null; proof: MerkleProof }[]
  >`
    select c.node_id, c.frame, r.intent_frame, rn.proof
    from commands c
    join jsonb_to_recordset(${db.json(asked)}) as q(node_id uuid, mark bigint) on q.node_id = c.node_id
    join rollouts r on r.id = c.rollout_id
    join rollout_nodes rn on rn.rollout_id = c.rollout_id and rn.node_id = c.node_id
    where c.answered_at is null and c.sequence > q.mark and c.expires_at > now()
    order by c.sequence limit ${queries.length * 16}`;
  return collect(
    rows.map(({ node_id, frame, intent_frame, proof }) => [
      node_id,
      { command: frame.toString("base64"), intent: intent_frame?.toString("base64") ?? null, proof },
    ]),
  );
}

/**
 * Of each profile only the newest: it outdates the others as well. A node at work gets it when it is done:
 * a cancel lets it finish, and its way back is signed by the intent that would be outdated.
 */
async function findVoidIntents(
  db: Database,
  queries: readonly DeliveryQuery[],
): Promise<Map<NodeId, string[]>> {
  const asked = queries.map(({ nodeId, serials }) => ({ node_id: nodeId, serials }));
  const rows = await db<{ node_id: NodeId; void_intent_frame: Buffer }[]>`
    select distinct on (q.node_id, r.chain_profile_id) q.node_id, r.void_intent_frame
    from jsonb_to_recordset(${db.json(asked)}) as q(node_id uuid, serials jsonb)
    join rollout_nodes rn on rn.node_id = q.node_id
    join rollouts r on r.id = rn.rollout_id and r.void_intent_frame is not null
    where rn.status <> 'in_progress' and r.void_intent_serial > coalesce((q.serials->>r.chain_profile_id)::bigint, 0)
    order by q.node_id, r.chain_profile_id, r.void_intent_serial desc`;
  return collect(rows.map((row) => [row.node_id, row.void_intent_frame.toString("base64")]));
}

function collect<T>(pairs: readonly (readonly [NodeId, T])[]): Map<NodeId, T[]> {
  const map = new Map<NodeId, T[]>();
  for (const [id, value] of pairs) map.set(id, [...(map.get(id) ?? []), value]);
  return map;
}
