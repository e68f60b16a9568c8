/**
 * Our own short-lived tokens.
 *
 * 1. Signed and verified with one algorithm, EdDSA, fixed here: nothing in a token chooses it, and no symmetric
 *    algorithm is known to this server, so a public key is never mistaken for a shared secret.
 * 2. A token names an API key's row and nothing else: scopes are read from the row at each call.
 */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { join } from "node:path";
import { jwtVerify, SignJWT } from "jose";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Uuid, type ClusterId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Clock } from "../../host/clock.ts";
import { ensureDirectory } from "../../host/files.ts";
import { generateSigner, signerFromPem } from "../../trust/keys.ts";
import { loadOrCreateKeyFile } from "../identity/key-file.ts";

const ALGORITHM = "EdDSA"; // (1)
const AUDIENCE = "fairlead-operators";
const TYPE = "at+jwt";
const Claims = z.object({ sub: Uuid });

export interface TokenService {
  readonly issuer: string;
  /** Of the key that signs: replicas share it. */
  readonly keyId: string;
  issue(apiKeyId: string): Promise<{ readonly token: string; readonly expiresAt: Date }>;
  /** The API key's id; throws TOKEN_INVALID. */
  verify(token: string): Promise<string>;
}

export async function createTokenService(
  keysDir: string,
  clusterId: ClusterId,
  clock: Clock,
): Promise<TokenService> {
  await ensureDirectory(keysDir);
  const pem = await loadOrCreateKeyFile(join(keysDir, "operator-token-key.pem"), () => generateSigner().pem);
  const privateKey = createPrivateKey(pem);
  const publicKey = createPublicKey(privateKey);
  const issuer = `fairlead:${clusterId}`;

  return {
    issuer,
    keyId: signerFromPem(pem).record.key_id,
    async issue(apiKeyId) {
      const now = Math.floor(clock.now() / 1000);
      const expires = now + LIMITS.operatorTokenLifetimeMs / 1000;
      const token = await new SignJWT({})
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setIssuer(issuer)
        .setAudience(AUDIENCE)
        .setSubject(apiKeyId)
        .setIssuedAt(now)
        .setExpirationTime(expires)
        .sign(privateKey);
      return { token, expiresAt: new Date(expires * 1000) };
    },
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, publicKey, {
          algorithms: [ALGORITHM],
          issuer,
          audience: AUDIENCE,
          typ: TYPE,
          requiredClaims: ["exp", "iat", "sub"],
          currentDate: new Date(clock.now()),
        });
        return Claims.parse(payload).sub; // (2)
      } catch (cause) {
        throw tokenInvalid(cause);
      }
    },
  };
}

/** One message for every defect: a forger learns nothing from it. */
export const tokenInvalid = (cause?: unknown): FairleadError =>
  new FairleadError("TOKEN_INVALID", "the token is not valid or has expired", undefined, cause);
