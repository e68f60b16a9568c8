/**
 * Tokens of the configured OpenID issuer.
 *
 * 1. Issuer, audience and key set are configuration; a token's own pointers (`jku`, `jwk`, `x5u`) are not followed.
 * 2. Asymmetric algorithms only: a public key is never taken as a shared secret, and `none` is no algorithm.
 * 3. The token proves a subject. What the subject may do stands in `oidc_grants` and nowhere else.
 */
import { createRemoteJWKSet, customFetch, errors, jwtVerify } from "jose";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { createHttpClient } from "../../host/bounded-http.ts";
import type { Clock } from "../../host/clock.ts";
import { tokenInvalid } from "./tokens.ts";

export const OIDC_ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
]; // (2)
const keySetBytesMax = 256 * 1024;
const keySetTimeoutMs = 5_000;
const clockToleranceSeconds = 30;

export const OidcConfig = z.strictObject({
  issuer: z.string().min(1).max(500),
  audience: z.string().min(1).max(500),
  jwks_uri: z.url().refine(isSafeUrl, "https, or http on loopback"),
});
export type OidcConfig = z.infer<typeof OidcConfig>;

const Claims = z.object({ sub: z.string().min(1).max(255) });

export interface OidcVerifier {
  readonly issuer: string;
  /** The subject; throws TOKEN_INVALID, or UNREACHABLE when the issuer's keys cannot be read. */
  verify(token: string): Promise<string>;
}

export function createOidcVerifier(config: OidcConfig, clock: Clock): OidcVerifier {
  const { issuer, audience, jwks_uri } = OidcConfig.parse(config);
  const keys = createRemoteJWKSet(new URL(jwks_uri), {
    [customFetch]: fetchKeySet,
    timeoutDuration: keySetTimeoutMs,
  });
  return {
    issuer,
    async verify(token) {
      try {
        const { payload } = await jwtVerify(token, keys, {
          algorithms: OIDC_ALGORITHMS,
          issuer,
          audience,
          requiredClaims: ["exp", "sub"],
          clockTolerance: clockToleranceSeconds,
          currentDate: new Date(clock.now()),
        });
        return Claims.parse(payload).sub; // (3)
      } catch (error) {
        if (error instanceof FairleadError || error instanceof errors.JWKSTimeout) {
          throw new FairleadError(
            "UNREACHABLE",
            "the identity provider's keys cannot be read",
            undefined,
            error,
          );
        }
        throw tokenInvalid(error);
      }
    },
  };
}

/** Through the one client that bounds time and size and follows no redirect. */
async function fetchKeySet(url: string, { signal }: { readonly signal: AbortSignal }): Promise<Response> {
  const { origin, pathname, search } = new URL(url);
  const client = createHttpClient({ origin });
  try {
    const { status, body } = await client.request(`${pathname}${search}`, {
      signal,
      timeoutMs: keySetTimeoutMs,
      maxResponseBytes: keySetBytesMax,
    });
    if (status !== 200) throw new FairleadError("UNREACHABLE", `the key set answers with HTTP ${status}`);
    return new Response(new Uint8Array(body), { status });
  } finally {
    client.close();
  }
}

function isSafeUrl(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || url.password !== "") return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
}
