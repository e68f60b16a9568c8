/** From a bearer token or the console's cookie to a principal. */
import { decodeJwt } from "jose";
import { FairleadError } from "../../core/errors.ts";
import type { Database } from "../db/database.ts";
import { principalOfKey } from "./api-keys.ts";
import { scopesOfSubject } from "./grants.ts";
import type { OidcVerifier } from "./oidc.ts";
import { userOfSubject, type Principal } from "./principal.ts";
import { principalOfSession } from "./sessions.ts";
import { tokenInvalid, type TokenService } from "./tokens.ts";

export interface Authenticator {
  bearer(header: string): Promise<Principal>;
  session(token: string): Promise<Principal>;
}

const tokenCharsMax = 16 * 1024;

export function createAuthenticator(
  db: Database,
  tokens: TokenService,
  oidc: OidcVerifier | null,
): Authenticator {
  async function bearer(header: string): Promise<Principal> {
    const [, token] = /^Bearer ([\w.~+/=-]+)$/i.exec(header) ?? [];
    if (token === undefined || token.length > tokenCharsMax) throw tokenInvalid();
    const issuer = issuerOf(token);
    if (issuer === tokens.issuer) {
      const principal = await principalOfKey(db, await tokens.verify(token));
      if (principal === null) throw tokenInvalid();
      return principal;
    }
    if (oidc === null || issuer !== oidc.issuer) throw tokenInvalid();
    const subject = await oidc.verify(token);
    return { user: userOfSubject(subject), scopes: await scopesOfSubject(db, oidc.issuer, subject) };
  }

  async function session(token: string): Promise<Principal> {
    const principal = await principalOfSession(db, token);
    if (principal !== null) return principal;
    throw new FairleadError("UNAUTHENTICATED", "the console's session has ended");
  }

  return { bearer, session };
}

/** Not verified: it chooses who verifies, and the verifier insists on it. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch (cause) {
    throw tokenInvalid(cause);
  }
}
