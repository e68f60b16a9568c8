/** From a bearer token or the console's cookie to a principal. */
import { decodeJwt } from "jose";
import { FairleadError } from "../../core/errors.ts";
import type { Database } from "../db/database.ts";
import { principalOfKey } from "./api-keys.ts";
import { scopesOfSubject } from "./grants.ts";
import type { OidcVerifier } from "./oidc.ts";
import { userOfSubject, type Caller, type Principal } from "./principal.ts";
import { principalOfSession } from "./sessions.ts";
import { tokenInvalid, type TokenService } from "./tokens.ts";

export interface Authenticator {
  bearer(header: string): Promise<Caller>;
  session(token: string): Promise<Caller>;
}

const tokenCharsMax = 16 * 1024;

export function createAuthenticator(
  db: Database,
  tokens: TokenService,
  oidc: OidcVerifier | null,
): Authenticator {
  async function bearer(header: string): Promise<Caller> {
    const [, token] = /^Bearer ([\w.~+/=-]+)$/i.exec(header) ?? [];
    if (token === undefined || token.length > tokenCharsMax) throw tokenInvalid();
    const issuer = issuerOf(token);
    if (issuer === tokens.issuer) {
      const keyId = await tokens.verify(token);
      return callerBy(() => principalOfKey(db, keyId), tokenInvalid);
    }
    if (oidc === null || issuer !== oidc.issuer) throw tokenInvalid();
    const subject = await oidc.verify(token);
    const user = userOfSubject(subject);
    return callerBy(async () => ({ user, scopes: await scopesOfSubject(db, issuer, subject) }), tokenInvalid);
  }

  const session = (token: string): Promise<Caller> =>
    callerBy(
      () => principalOfSession(db, token),
      () => new FairleadError("UNAUTHENTICATED", "the console's session has ended"),
    );

  return { bearer, session };
}

/** Whether a key or a session still counts is read from its row, now and whenever it is asked again. */
async function callerBy(
  again: () => Promise<Principal | null>,
  refused: () => FairleadError,
): Promise<Caller> {
  const principal = await again();
  if (principal === null) throw refused();
  return { ...principal, again };
}

/** Not verified: it chooses who verifies, and the verifier insists on it. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch (cause) {
    throw tokenInvalid(cause);
  }
}
