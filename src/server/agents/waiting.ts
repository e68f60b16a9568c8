/** What waits for nodes besides snapshots: commands above their mark, and intents that were called off. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { MerkleProof } from "../../core/protocol/intent.ts";
import type { Database } from "../db/database.ts";
import type { SentCommand } from "../rollout/parcel.ts";
import type { DeliveryQuery } from "./deliveries.ts";

/** A node takes no more at once. */
export const COMMANDS_MAX = 16;

type WaitingQuery = Pick<DeliveryQuery, "nodeId" | "mark" | "serials">;

/**
 * A mark above the node's own sequence is no mark: the node gets the command and says itself what it makes of it. Held
 * back, the command would only time out.
 */
export async function findCommands(
  db: Database,
  queries: readonly WaitingQuery[],
): Promise<Map<NodeId, SentCommand[]>> {
  const rows = await db<
    { node_id: NodeId; rollout_id: RolloutId; sequence: number; frame: Buffer; proof: MerkleProof }[]
  >`
    select c.node_id, c.rollout_id, c.sequence, c.frame, p.proof
    from unnest(${queries.map(({ nodeId }) => nodeId)}::uuid[], ${queries.map(({ mark }) => mark)}::bigint[])
      as q(node_id, mark)
    join nodes n on n.id = q.node_id
    cross join lateral (
      select node_id, rollout_id, sequence, frame from commands
      where node_id = q.node_id and sequence > case when q.mark > n.command_sequence then 0 else q.mark end and answered_at is null and expires_at > now()
      order by sequence limit ${COMMANDS_MAX}
    ) c
    join rollout_proofs p on p.rollout_id = c.rollout_id and p.node_id = c.node_id
    order by c.sequence`;
  const intents = await findIntents(db, new Set(rows.map((row) => row.rollout_id)));
  return collect(
    rows.map(({ node_id, rollout_id, sequence, frame, proof }) => {
      const intent = intents.get(rollout_id) ?? null;
      return [node_id, { sequence, delivery: { command: frame.toString("base64"), intent, proof } }];
    }),
  );
}

/** The nodes of a rollout share its intent. */
async function findIntents(db: Database, rollouts: ReadonlySet<RolloutId>): Promise<Map<RolloutId, string>> {
  if (rollouts.size === 0) return new Map();
  const rows = await db<{ id: RolloutId; intent_frame: Buffer }[]>`
    select id, intent_frame from rollouts where id = any(${[...rollouts]}) and intent_frame is not null`;
  return new Map(rows.map((row) => [row.id, row.intent_frame.toString("base64")]));
}

/**
 * Of each profile only the newest: it outdates the others as well. A node at work gets it when it is done:
 * a cancel lets it finish, and its way back is signed by the intent that would be outdated.
 */
export async function findVoidIntents(
  db: Database,
  queries: readonly WaitingQuery[],
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
  for (const [id, value] of pairs) {
    const list = map.get(id);
    if (list === undefined) map.set(id, [value]);
    else list.push(value);
  }
  return map;
}
