/**
 * Moves nodes to other states, each only from the state that was judged, with an event for each that moved.
 * A row that a rollout holds right now is left for the next look: nobody waits here while others wait for us.
 */
import type { NodeId } from "../../core/ids.ts";
import type { NodeState } from "../../core/protocol/agent-api.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

export interface StateChange {
  readonly nodeId: NodeId;
  readonly from: NodeState;
  readonly to: NodeState;
  readonly reason: string;
}

export async function changeStates(tx: Transaction, changes: readonly StateChange[]): Promise<NodeId[]> {
  if (changes.length === 0) return [];
  const moved = await tx<{ node_id: NodeId }[]>`
    with wanted as materialized (
      select n.id, c."to" from nodes n
      join jsonb_to_recordset(${tx.json(changes as never)}) as c("nodeId" uuid, "from" text, "to" text)
        on n.id = c."nodeId" and n.state = c."from"
      where n.revoked_at is null
      order by n.id for no key update of n skip locked)
    update nodes n set state = wanted."to" from wanted where n.id = wanted.id returning n.id as node_id`;
  const ids = new Set(moved.map((row) => row.node_id));
  await appendEvents(
    tx,
    changes
      .filter(({ nodeId }) => ids.has(nodeId))
      .map(({ nodeId, from, to, reason }) => ({
        kind: "node.state",
        node_id: nodeId,
        data: { from, to, reason },
      })),
  );
  return [...ids];
}
