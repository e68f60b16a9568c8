/**
 * The right to enroll one node, once. The server keeps a hash of the secret and gives the secret away once.
 * Name, profiles, type, roles and labels are the operator's: the node claims none of them.
 */
import { randomUUID } from "node:crypto";
import type { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { EnrollmentTokenRequest, EnrollmentTokenResponse } from "../../core/protocol/operator-api.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { hashSecret, newSecret } from "../auth/secrets.ts";
import { replaceProfiles } from "./node-profiles.ts";

export async function createEnrollmentToken(
  db: Database,
  request: z.infer<typeof EnrollmentTokenRequest>,
  actor: string,
): Promise<z.infer<typeof EnrollmentTokenResponse>> {
  const secret = newSecret();
  const { id, expires_at } = await db.begin(async (tx) => {
    const id = await nodeFor(tx, request);
    // One token at a time: an older one that was lost must not enroll a second machine under this name.
    await tx`delete from enrollment_tokens where node_id = ${id}`;
    const [token] = await tx<{ expires_at: Date }[]>`
      insert into enrollment_tokens (secret_hash, node_id, expires_at)
      values (${hashSecret(secret)}, ${id}, now() + ${request.expires_in_seconds} * interval '1 second')
      returning expires_at`;
    const { name, reason = null } = request;
    const data = { name, expires_at: token!.expires_at.toISOString(), reason };
    await appendEvents(tx, [{ kind: "enrollment_token.created", node_id: id, actor, data }]);
    return { id, expires_at: token!.expires_at };
  });
  return { node_id: id, secret, expires_at: expires_at.toISOString() };
}

/**
 * A node that waits for its first enrollment keeps its id and gets a new token. The name of a revoked node goes to a
 * new one with an id of its own (SNAP-20).
 */
async function nodeFor(tx: Transaction, request: z.infer<typeof EnrollmentTokenRequest>): Promise<NodeId> {
  const { name, chain_profile_ids, node_type, roles, labels } = request;
  const [row] = await tx<{ id: NodeId }[]>`
    insert into nodes (id, name, node_type, roles, labels, replaces)
    values (${randomUUID()}, ${name}, ${node_type}, ${roles}, ${tx.json(labels)},
      (select r.id from nodes r where r.name = ${name} and r.revoked_at is not null
        and not exists (select 1 from nodes s where s.replaces = r.id)))
    on conflict (name) where revoked_at is null do update set
      node_type = excluded.node_type, roles = excluded.roles, labels = excluded.labels
    where nodes.enrolled_at is null
    returning id`;
  if (row !== undefined) {
    await replaceProfiles(tx, row.id, chain_profile_ids);
    return row.id;
  }
  throw new FairleadError(
    "ILLEGAL_TRANSITION",
    `node ${name} is enrolled: revoke it first, or choose another name`,
  );
}
