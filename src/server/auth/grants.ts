/** What subjects of the OpenID issuer may do: granted here by an administrator, by nobody else. */
import { z } from "zod";
import type { Scope } from "../../core/protocol/api-key-api.ts";
import { GrantView, type GrantList, type GrantRequest } from "../../core/protocol/grant-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { knownScopes, userOfSubject } from "./principal.ts";

const After = z.strictObject({ issuer: z.string().max(500), subject: z.string().max(255) });

interface Row {
  readonly issuer: string;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly granted_by: string;
  readonly granted_at: Date;
}

/** By issuer and subject; a subject whose scopes were taken away stays in the list without any. */
export async function listGrants(db: Database, { limit, cursor }: Page): Promise<GrantList> {
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<Row[]>`
    select issuer, subject, scopes, granted_by, created_at as granted_at from oidc_grants
    ${after === null ? db`` : db`where (issuer, subject) > (${after.issuer}, ${after.subject})`}
    order by issuer, subject limit ${limit + 1}`;
  const grants = rows.slice(0, limit).map(viewOf);
  const last = rows.length > limit ? grants.at(-1) : undefined;
  const next = last === undefined ? null : encodeCursor({ issuer: last.issuer, subject: last.subject });
  return { grants, next_cursor: next };
}

/** Replaces the subject's scopes; an empty list takes them away, his console sessions included. */
export async function grantOidc(
  db: Database,
  { issuer, subject, scopes, reason }: GrantRequest,
  actor: string,
): Promise<GrantView> {
  return db.begin(async (tx) => {
    const [row] = await tx<Row[]>`
      insert into oidc_grants (issuer, subject, scopes, granted_by, created_at)
      values (${issuer}, ${subject}, ${[...scopes]}, ${actor}, now())
      on conflict (issuer, subject) do update set
        scopes = excluded.scopes, granted_by = excluded.granted_by, created_at = excluded.created_at
      returning issuer, subject, scopes, granted_by, created_at as granted_at`;
    // A session carries the scopes it was made with: the next one carries the new ones.
    await tx`delete from sign_in_codes where user_name = ${userOfSubject(subject)}`;
    await tx`delete from console_sessions where user_name = ${userOfSubject(subject)}`;
    const data = { issuer, subject, scopes, reason: reason ?? null };
    await appendEvents(tx, [{ kind: "grant.set", actor, data }]);
    return viewOf(row!);
  });
}

export async function scopesOfSubject(db: Database, issuer: string, subject: string): Promise<Scope[]> {
  const [row] = await db<{ scopes: string[] }[]>`
    select scopes from oidc_grants where issuer = ${issuer} and subject = ${subject}`;
  return knownScopes(row?.scopes ?? []);
}

const viewOf = (row: Row): GrantView =>
  GrantView.parse({ ...row, scopes: knownScopes(row.scopes), granted_at: row.granted_at.toISOString() });
