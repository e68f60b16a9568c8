/**
 * How a browser signs in.
 *
 * 1. A link's code works once and for ten minutes; it travels in the fragment, which no server log sees.
 * 2. Code and session token are kept as hashes: who reads the table cannot sign in.
 */
import type { Database } from "../db/database.ts";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { appendEvents } from "../events/append.ts";
import { knownScopes, type Principal } from "./principal.ts";
import { hashSecret, newSecret } from "./secrets.ts";

export const SESSION_COOKIE = "fairlead_session";

export async function createSignInCode(
  db: Database,
  principal: Principal,
): Promise<{ readonly code: string; readonly expiresAt: Date }> {
  const code = newSecret();
  return db.begin(async (tx) => {
    await tx`delete from sign_in_codes where expires_at <= now()`;
    const [row] = await tx<{ expires_at: Date }[]>`
      insert into sign_in_codes (code_hash, user_name, scopes, expires_at)
      values (${hashSecret(code)}, ${principal.user}, ${[...principal.scopes]}, now() + ${LIMITS.signInCodeLifetimeMs} * interval '1 millisecond')
      returning expires_at`;
    const expiresAt = row!.expires_at;
    const data = { expires_at: expiresAt.toISOString() };
    await appendEvents(tx, [{ kind: "sign_in_link.created", actor: principal.user, data }]);
    return { code, expiresAt };
  });
}

export async function openSession(db: Database, code: string, address: string): Promise<string> {
  const token = newSecret();
  return db.begin(async (tx) => {
    const [row] = await tx<{ user_name: string; scopes: string[]; live: boolean }[]>`
      delete from sign_in_codes where code_hash = ${hashSecret(code)}
      returning user_name, scopes, expires_at > now() as live`; // (1)
    if (row === undefined || !row.live) {
      throw new FairleadError("TOKEN_INVALID", "the sign-in link was used already or has expired");
    }
    await tx`delete from console_sessions where expires_at <= now()`;
    await tx`
      insert into console_sessions (token_hash, user_name, scopes, expires_at)
      values (${hashSecret(token)}, ${row.user_name}, ${row.scopes}, now() + ${LIMITS.consoleSessionLifetimeMs} * interval '1 millisecond')`;
    await appendEvents(tx, [{ kind: "session.opened", actor: row.user_name, data: { address } }]);
    return token;
  });
}

/** A session that a key opened is worth nothing without the key, as its tokens are. */
export async function principalOfSession(db: Database, token: string): Promise<Principal | null> {
  const [row] = await db<{ user_name: string; scopes: string[] }[]>`
    select user_name, scopes from console_sessions s
    where token_hash = ${hashSecret(token)} and expires_at > now()
      and (user_name not like 'key:%' or exists (
        select 1 from api_keys k where 'key:' || k.name = s.user_name and k.revoked_at is null))`;
  return row === undefined ? null : { user: row.user_name, scopes: knownScopes(row.scopes) };
}

export async function closeSession(db: Database, token: string): Promise<void> {
  await db.begin(async (tx) => {
    const closed = await tx<{ user_name: string }[]>`
      delete from console_sessions where token_hash = ${hashSecret(token)} returning user_name`;
    const events = closed.map(({ user_name }) => ({ kind: "session.closed", actor: user_name, data: {} }));
    await appendEvents(tx, events);
  });
}
