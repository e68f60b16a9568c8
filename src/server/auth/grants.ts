/** What subjects of the OpenID issuer may do: granted here by an administrator, by nobody else. */
import type { Scope } from "../../core/protocol/api-key-api.ts";
import type { Database } from "../db/database.ts";
import { knownScopes, userOfSubject } from "./principal.ts";

/** Replaces the subject's scopes; an empty list takes them away, his console sessions included. */
export async function grantOidc(
  db: Database,
  issuer: string,
  subject: string,
  scopes: readonly Scope[],
  by: string,
): Promise<void> {
  await db.begin(async (tx) => {
    await tx`
      insert into oidc_grants (issuer, subject, scopes, granted_by)
      values (${issuer}, ${subject}, ${[...scopes]}, ${by})
      on conflict (issuer, subject) do update set scopes = excluded.scopes, granted_by = excluded.granted_by`;
    // A session carries the scopes it was made with: the next one carries the new ones.
    await tx`delete from sign_in_codes where user_name = ${userOfSubject(subject)}`;
    await tx`delete from console_sessions where user_name = ${userOfSubject(subject)}`;
  });
}

export async function scopesOfSubject(db: Database, issuer: string, subject: string): Promise<Scope[]> {
  const [row] = await db<{ scopes: string[] }[]>`
    select scopes from oidc_grants where issuer = ${issuer} and subject = ${subject}`;
  return knownScopes(row?.scopes ?? []);
}
