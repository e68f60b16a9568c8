// Tokens of a configured OpenID issuer, with its key set on a real loopback server.

import { createSecretKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/host/clock.ts";
import { createOidcVerifier, OidcConfig, type OidcVerifier } from "../../../src/server/auth/oidc.ts";

const ISSUER = "https://issuer.test";
const AUDIENCE = "fairlead";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });

let server: Server;
let base: string;
let oidc: OidcVerifier;
let answer: { status: number; body: string };

beforeAll(async () => {
  server = createServer((request, response) => {
    if (request.url === "/moved") response.writeHead(302, { location: "/keys" }).end();
    else response.writeHead(answer.status, { "content-type": "application/json" }).end(answer.body);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());
beforeEach(() => {
  const keys = [
    { ...rsa.publicKey.export({ format: "jwk" }), kid: "rsa", use: "sig" },
    { ...ec.publicKey.export({ format: "jwk" }), kid: "ec", use: "sig", alg: "ES256" },
  ];
  answer = { status: 200, body: JSON.stringify({ keys }) };
  oidc = createOidcVerifier({ issuer: ISSUER, audience: AUDIENCE, jwks_uri: `${base}/keys` }, systemClock);
});

interface Changes {
  readonly alg?: string;
  readonly kid?: string;
  readonly key?: KeyObject;
  readonly claims?: object;
}

function token({
  alg = "RS256",
  kid = "rsa",
  key = rsa.privateKey,
  claims = {},
}: Changes = {}): Promise<string> {
  const at = Math.floor(Date.now() / 1000);
  return new SignJWT({ iss: ISSUER, aud: AUDIENCE, sub: "ann", iat: at, exp: at + 60, ...claims })
    .setProtectedHeader({ alg, kid })
    .sign(key);
}

test.each([
  ["RS256", {}],
  ["PS256", { alg: "PS256" }],
  ["ES256", { alg: "ES256", kid: "ec", key: ec.privateKey }],
])("a token signed with %s by the issuer proves its subject", async (_alg, changes) => {
  expect(await oidc.verify(await token(changes))).toBe("ann");
});

test("scopes and roles that a token claims are not looked at: the subject is all it yields", async () => {
  expect(
    await oidc.verify(await token({ claims: { scope: "admin", scopes: ["admin"], roles: ["admin"] } })),
  ).toBe("ann");
});

describe("refused", () => {
  const past = Math.floor(Date.now() / 1000) - 3_600;
  const cases: readonly (readonly [string, () => Promise<string> | string])[] = [
    [
      "alg none",
      () =>
        new UnsecuredJWT({ sub: "ann" })
          .setIssuer(ISSUER)
          .setAudience(AUDIENCE)
          .setExpirationTime("1h")
          .encode(),
    ],
    [
      "HS256 with the public key as secret",
      () =>
        token({
          alg: "HS256",
          key: createSecretKey(Buffer.from(rsa.publicKey.export({ type: "spki", format: "pem" }))),
        }),
    ],
    [
      "another key under the issuer's key id",
      () => token({ key: generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey }),
    ],
    ["a key id that the issuer does not have", () => token({ kid: "unknown" })],
    ["another audience", () => token({ claims: { aud: "another-service" } })],
    ["no audience", () => token({ claims: { aud: undefined } })],
    ["another issuer", () => token({ claims: { iss: "https://other.test" } })],
    ["expired", () => token({ claims: { exp: past } })],
    ["no expiry", () => token({ claims: { exp: undefined } })],
    ["no subject", () => token({ claims: { sub: undefined } })],
    ["an empty subject", () => token({ claims: { sub: "" } })],
  ];
  test.each(cases)("%s", async (_what, make) => {
    await expect(oidc.verify(await make())).rejects.toMatchObject({ code: "TOKEN_INVALID" });
  });

  test("a symmetric key in the issuer's key set verifies nothing", async () => {
    const secret = Buffer.alloc(32, 7);
    answer = {
      status: 200,
      body: JSON.stringify({ keys: [{ kty: "oct", kid: "rsa", k: secret.toString("base64url") }] }),
    };
    const forged = await token({ alg: "HS256", key: createSecretKey(secret) });
    await expect(oidc.verify(forged)).rejects.toMatchObject({ code: "TOKEN_INVALID" });
  });
});

describe("an issuer whose keys cannot be read", () => {
  test.each([
    ["answers with an error", () => (answer = { status: 500, body: "" })],
    ["sends more than a key set", () => (answer = { status: 200, body: " ".repeat(300 * 1024) })],
  ])("%s: the caller hears that, and is not let in", async (_what, spoil) => {
    spoil();
    await expect(oidc.verify(await token())).rejects.toMatchObject({ code: "UNREACHABLE" });
  });

  test("has moved: a redirect is not followed", async () => {
    const moved = createOidcVerifier(
      { issuer: ISSUER, audience: AUDIENCE, jwks_uri: `${base}/moved` },
      systemClock,
    );
    await expect(moved.verify(await token())).rejects.toMatchObject({ code: "UNREACHABLE" });
  });
});

test.each([
  "http://issuer.test/keys",
  "ftp://127.0.0.1/keys",
  "file:///etc/passwd",
  "https://user:pass@issuer.test/keys",
])("a key set at %s is refused in the configuration", (jwks_uri) => {
  expect(OidcConfig.safeParse({ issuer: ISSUER, audience: AUDIENCE, jwks_uri }).success).toBe(false);
});

test.each([
  "https://issuer.test/keys",
  "http://127.0.0.1:9/keys",
  "http://[::1]:9/keys",
  "http://localhost/keys",
])("a key set at %s is allowed", (jwks_uri) => {
  expect(OidcConfig.safeParse({ issuer: ISSUER, audience: AUDIENCE, jwks_uri }).success).toBe(true);
});
