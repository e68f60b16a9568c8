/** Enrollment keys as operators make, list and revoke them. The server keeps a hash of the secret and gives it away once. */
import { randomUUID } from "node:crypto";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Uuid } from "../../core/ids.ts";
import {
  EnrollmentKeyView,
  type EnrollmentKeyCreate,
  type EnrollmentKeyCreated,
  type EnrollmentKeyId,
  type EnrollmentKeyList,
  type EnrollmentKeyRevoke,
} from "../../core/protocol/enrollment-key-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import { hashSecret, newSecret } from "../auth/secrets.ts";
import type { Database, Queryable } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";

const After = z.strictObject({ created_at: z.string().max(40), id: Uuid });

/** Newest first, ended ones among them. */
export async function listEnrollmentKeys(db: Database, { limit, cursor }: Page): Promise<EnrollmentKeyList> {
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<Row[]>`
    ${select(db)}
    ${after === null ? db`` : db`where (k.created_at, k.id) < (${after.created_at}::timestamptz, ${after.id}::uuid)`}
    order by k.created_at desc, k.id desc limit ${limit + 1}`;
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    enrollment_keys: page.map(viewOf),
    next_cursor: last === undefined ? null : encodeCursor({ created_at: last.created_at_text, id: last.id }),
  };
}

export async function createEnrollmentKey(
  db: Database,
  request: EnrollmentKeyCreate,
  actor: string,
): Promise<EnrollmentKeyCreated> {
  const secret = newSecret();
  const { name, name_template, node_type, chain_profile_ids, roles, labels, uses_max, needs_approval } =
    request;
  return db.begin(async (tx) => {
    const [made] = await tx<{ id: EnrollmentKeyId }[]>`
      insert into enrollment_keys (id, secret_hash, name, name_template, node_type, chain_profile_ids, roles, labels,
        uses_max, needs_approval, expires_at, created_by)
      values (${randomUUID()}, ${hashSecret(secret)}, ${name}, ${name_template}, ${node_type}, ${chain_profile_ids},
        ${roles}, ${tx.json(labels)}, ${uses_max}, ${needs_approval},
        now() + ${request.expires_in_seconds} * interval '1 second', ${actor})
      on conflict (name) where revoked_at is null do nothing
      returning id`;
    if (made === undefined)
      throw new FairleadError("INVALID_INPUT", `body.name: there is an enrollment key ${name} already`, {
        field: "body.name",
      });
    const enrollment_key = await readEnrollmentKey(tx, made.id);
    const { uses: _uses, pending: _pending, ended: _ended, ...said } = enrollment_key;
    const data = { ...said, reason: request.reason ?? null };
    await appendEvents(tx, [{ kind: "enrollment_key.created", actor, data }]);
    return { enrollment_key, secret };
  });
}

/** Nodes that enrolled with it stay; machines that wait for an approval may still be approved. */
export async function revokeEnrollmentKey(
  db: Database,
  id: EnrollmentKeyId,
  { reason }: EnrollmentKeyRevoke,
  actor: string,
): Promise<EnrollmentKeyView> {
  return db.begin(async (tx) => {
    const [revoked] = await tx<{ name: string }[]>`
      update enrollment_keys set revoked_at = now() where id = ${id} and revoked_at is null returning name`;
    if (revoked !== undefined) {
      const data = { enrollment_key_id: id, name: revoked.name, reason: reason ?? null };
      await appendEvents(tx, [{ kind: "enrollment_key.revoked", actor, data }]);
    }
    return readEnrollmentKey(tx, id);
  });
}

async function readEnrollmentKey(db: Queryable, id: EnrollmentKeyId): Promise<EnrollmentKeyView> {
  const [row] = await db<Row[]>`${select(db)} where k.id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no enrollment key ${id}`);
  return viewOf(row);
}

interface Row {
  readonly id: EnrollmentKeyId;
  readonly name: string;
  readonly uses: number;
  readonly uses_max: number;
  readonly expires_at: Date;
  readonly expired: boolean;
  readonly created_at: Date;
  /** With microseconds, which a Date drops. */
  readonly created_at_text: string;
  readonly revoked_at: Date | null;
}

const select = (db: Queryable) => db`
  select k.id, k.name, k.name_template, k.chain_profile_ids, k.node_type, k.labels, k.roles, k.uses, k.uses_max,
    (select count(*)::int from enrollment_key_uses u join nodes n on n.id = u.node_id
      where u.enrollment_key_id = k.id and u.approved_at is null and n.revoked_at is null) as pending,
    k.needs_approval, k.expires_at, k.expires_at <= now() as expired, k.created_by, k.created_at,
    k.created_at::text as created_at_text, k.revoked_at
  from enrollment_keys k`;

function viewOf(row: Row): EnrollmentKeyView {
  return EnrollmentKeyView.parse({
    ...row,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
    ended: endOf(row),
  });
}

function endOf({ revoked_at, expired, uses, uses_max }: Row): EnrollmentKeyView["ended"] {
  if (revoked_at !== null) return "revoked";
  if (expired) return "expired";
  return uses >= uses_max ? "used_up" : null;
}
