/** API keys: `flk_` and 43 characters, shown once, kept as a hash, exchanged for short-lived tokens. */
import { randomUUID } from "node:crypto";
import { ApiKeyId, type Scope } from "../../core/protocol/api-key-api.ts";
import type { Database, Queryable } from "../db/database.ts";
import { knownScopes, userOfKey, type Principal } from "./principal.ts";
import { hashSecret, newSecret } from "./secrets.ts";

const FORM = /^flk_[A-Za-z0-9_-]{43}$/;

export const createApiKey = async (db: Queryable, name: string, scopes: readonly Scope[]): Promise<string> =>
  (await insertApiKey(db, name, scopes)).apiKey;

export async function insertApiKey(
  db: Queryable,
  name: string,
  scopes: readonly Scope[],
): Promise<{ readonly id: ApiKeyId; readonly apiKey: string }> {
  const id = ApiKeyId.parse(randomUUID());
  const apiKey = `flk_${newSecret()}`;
  await db`
    insert into api_keys (id, name, key_hash, scopes)
    values (${id}, ${name}, ${hashSecret(apiKey)}, ${[...scopes]})`;
  return { id, apiKey };
}

/** The key's row id, for the token, and whose it is; null when there is no such key. */
export async function findApiKey(
  db: Database,
  key: string,
): Promise<{ readonly id: string; readonly user: string } | null> {
  if (!FORM.test(key)) return null;
  const [row] = await db<{ id: string; name: string }[]>`
    select id, name from api_keys where key_hash = ${hashSecret(key)} and revoked_at is null`;
  return row === undefined ? null : { id: row.id, user: userOfKey(row.name) };
}

/** Asked at every call: a revoked key's tokens are worth nothing at once. */
export async function principalOfKey(db: Database, id: string): Promise<Principal | null> {
  const [row] = await db<{ name: string; scopes: string[] }[]>`
    select name, scopes from api_keys where id = ${id} and revoked_at is null`;
  return row === undefined ? null : { user: userOfKey(row.name), scopes: knownScopes(row.scopes) };
}
