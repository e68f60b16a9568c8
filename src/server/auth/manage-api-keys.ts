/**
 * API keys as administrators list, make and revoke them.
 *
 * 1. Whoever revokes holds every live key: of two administrators who revoke each other at once, one stays.
 * 2. A revoked key's tokens are refused by their next call; its links and console sessions end with it.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import {
  ApiKeyView,
  type ApiKeyCreate,
  type ApiKeyCreated,
  type ApiKeyId,
  type ApiKeyList,
  type ApiKeyRevoke,
} from "../../core/protocol/api-key-api.ts";
import { Uuid } from "../../core/ids.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { appendEvents } from "../events/append.ts";
import { insertApiKey } from "./api-keys.ts";
import { knownScopes, userOfKey } from "./principal.ts";

const After = z.strictObject({ name: z.string().max(100), id: Uuid });

/** By name, revoked ones among them. */
export async function listApiKeys(db: Database, { limit, cursor }: Page): Promise<ApiKeyList> {
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<Row[]>`
    ${select(db)} ${after === null ? db`` : db`where (name, id) > (${after.name}, ${after.id}::uuid)`}
    order by name, id limit ${limit + 1}`;
  const keys = rows.slice(0, limit).map(viewOf);
  const last = rows.length > limit ? keys.at(-1) : undefined;
  return {
    keys,
    next_cursor: last === undefined ? null : encodeCursor({ name: last.name, id: last.id }),
  };
}

export async function makeApiKey(
  db: Database,
  { name, scopes }: ApiKeyCreate,
  actor: string,
): Promise<ApiKeyCreated> {
  return db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.apiKeys})`;
    if ((await tx`select 1 from api_keys where name = ${name} and revoked_at is null`).length > 0)
      throw new FairleadError("INVALID_INPUT", `body.name: there is an API key ${name} already`, {
        field: "body.name",
      });
    const { id, apiKey } = await insertApiKey(tx, name, knownScopes(scopes));
    const key = await readApiKey(tx, id);
    const data = { api_key_id: id, name, scopes: key.scopes };
    await appendEvents(tx, [{ kind: "api_key.created", actor, data }]);
    return { key, api_key: apiKey };
  });
}

/** Of a key that is revoked already nothing changes. */
export async function revokeApiKey(
  db: Database,
  id: ApiKeyId,
  { force, reason }: ApiKeyRevoke,
  actor: string,
): Promise<ApiKeyView> {
  return db.begin(async (tx) => {
    const live = await tx<Row[]>`${select(tx)} where revoked_at is null order by id for update`; // (1)
    const key = await readApiKey(tx, id);
    if (key.revoked_at !== null) return key;
    const admins = live.map(viewOf).filter(({ scopes }) => scopes.includes("admin"));
    if (!force && admins.length === 1 && admins[0]!.id === id)
      throw new FairleadError("LAST_ADMIN_KEY", `${key.name} is the last API key with the scope admin`);
    await tx`update api_keys set revoked_at = now() where id = ${id}`;
    if (!live.some((other) => other.id !== id && other.name === key.name)) await signOut(tx, key.name); // (2)
    const data = { api_key_id: id, name: key.name, reason: reason ?? null };
    await appendEvents(tx, [{ kind: "api_key.revoked", actor, data }]);
    return readApiKey(tx, id);
  });
}

/** Links first: one that is opened meanwhile is waited for, and its session is among those that go. */
async function signOut(tx: Transaction, name: string): Promise<void> {
  await tx`delete from sign_in_codes where user_name = ${userOfKey(name)}`;
  await tx`delete from console_sessions where user_name = ${userOfKey(name)}`;
}

async function readApiKey(db: Queryable, id: ApiKeyId): Promise<ApiKeyView> {
  const [row] = await db<Row[]>`${select(db)} where id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no API key ${id}`);
  return viewOf(row);
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly revoked_at: Date | null;
}

const select = (db: Queryable) => db`select id, name, scopes, created_at, revoked_at from api_keys`;

const viewOf = (row: Row): ApiKeyView =>
  ApiKeyView.parse({
    ...row,
    scopes: knownScopes(row.scopes),
    created_at: row.created_at.toISOString(),
    revoked_at: row.revoked_at?.toISOString() ?? null,
  });
