/** A machine that asked with an enrollment key gets its certificate once an operator has said yes. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { NodeApproved, NodeApproveRequest } from "../../core/protocol/enrollment-key-api.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

/** Of a node that is approved already nothing changes. */
export async function approveNode(
  db: Database,
  id: NodeId,
  { key_id, reason }: NodeApproveRequest,
  actor: string,
): Promise<NodeApproved> {
  return db.begin(async (tx) => {
    const [node] = await tx<{ name: string; revoked: boolean }[]>`
      select name, revoked_at is not null as revoked from nodes where id = ${id} for update`;
    if (node === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
    if (node.revoked) throw new FairleadError("NODE_REVOKED", `node ${node.name} was revoked`);
    const [use] = await tx<{ key_hash: string; approved: boolean }[]>`
      select key_hash, approved_at is not null as approved from enrollment_key_uses where node_id = ${id} for update`;
    if (use === undefined)
      throw new FairleadError("ILLEGAL_TRANSITION", `node ${node.name} does not wait for an approval`);
    if (key_id !== undefined && key_id !== use.key_hash)
      throw new FairleadError(
        "STATE_MOVED",
        `the machine that waits as ${node.name} has key ${use.key_hash}, not ${key_id}`,
      );
    if (!use.approved) {
      await tx`update enrollment_key_uses set approved_at = now() where node_id = ${id}`;
      const data = { name: node.name, key_id: use.key_hash, reason: reason ?? null };
      await appendEvents(tx, [{ kind: "node.approved", node_id: id, actor, data }]);
    }
    return { node_id: id, name: node.name, key_id: use.key_hash };
  });
}
