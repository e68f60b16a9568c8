/**
 * After the database was restored from a backup, nodes hold higher command marks than it remembers: the next command
 * would be a replay to them. What they hold is taken over.
 */
import type { NodeId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";

export async function raiseCommandSequences(
  db: Database,
  queries: readonly { readonly nodeId: NodeId; readonly mark: number }[],
): Promise<void> {
  const marked = queries.filter(({ mark }) => mark > 0);
  if (marked.length === 0) return;
  const asked = db.json(marked.map(({ nodeId, mark }) => ({ node_id: nodeId, mark })));
  const behind = await db<{ id: NodeId; mark: number }[]>`
    select n.id, q.mark from jsonb_to_recordset(${asked}) as q(node_id uuid, mark bigint)
    join nodes n on n.id = q.node_id where n.command_sequence < q.mark`;
  if (behind.length === 0) return;
  await db`
    update nodes n set command_sequence = q.mark
    from jsonb_to_recordset(${db.json(behind)}) as q(id uuid, mark bigint)
    where n.id = q.id and n.command_sequence < q.mark`;
}
