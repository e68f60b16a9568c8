// The server's own tokens: what it signed it takes, and nothing that looks like it.

import {
  createPrivateKey,
  createPublicKey,
  createSecretKey,
  generateKeyPairSync,
  randomUUID,
  type KeyObject,
} from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeJwt, SignJWT, UnsecuredJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { Clock } from "../../../src/host/clock.ts";
import { createTokenService, type TokenService } from "../../../src/server/auth/tokens.ts";

const folder = mkdtempSync(join(tmpdir(), "fairlead-tokens-"));
const clusterId = ClusterId.parse(randomUUID());
const apiKeyId = randomUUID();
let now = Date.parse("2026-03-01T12:00:00Z");
const clock: Clock = { now: () => now, monotonic: () => now };
let tokens: TokenService;
let privateKey: KeyObject;

beforeAll(async () => {
  tokens = await createTokenService(folder, clusterId, clock);
  privateKey = createPrivateKey(readFileSync(join(folder, "operator-token-key.pem")));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A token like the server's own but for the changes. */
function forge(
  changes: { header?: object; claims?: object; key?: KeyObject; alg?: string } = {},
): Promise<string> {
  const at = Math.floor(now / 1000);
  const claims = {
    iss: tokens.issuer,
    aud: "fairlead-operators",
    sub: apiKeyId,
    iat: at,
    exp: at + 60,
    ...changes.claims,
  };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: changes.alg ?? "EdDSA", typ: "at+jwt", ...changes.header })
    .sign(changes.key ?? privateKey);
}

test("a token that the server issued names its API key, for fifteen minutes", async () => {
  const { token, expiresAt } = await tokens.issue(apiKeyId);
  expect(expiresAt.getTime() - now).toBe(15 * 60_000);
  expect(await tokens.verify(token)).toBe(apiKeyId);
  expect(decodeJwt(token)).not.toHaveProperty("scopes");
});

test("replicas on one keys folder take each other's tokens; another folder's are refused", async () => {
  const sibling = await createTokenService(folder, clusterId, clock);
  const { token } = await sibling.issue(apiKeyId);
  expect(await tokens.verify(token)).toBe(apiKeyId);
  const elsewhere = mkdtempSync(join(tmpdir(), "fairlead-tokens-"));
  const stranger = await createTokenService(elsewhere, clusterId, clock);
  const { token: foreign } = await stranger.issue(apiKeyId);
  await expect(tokens.verify(foreign)).rejects.toMatchObject({ code: "TOKEN_INVALID" });
  rmSync(elsewhere, { recursive: true });
});

test("a forged copy is only refused for what is wrong with it", async () => {
  expect(await tokens.verify(await forge())).toBe(apiKeyId);
});

const publicPem = () => createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString();
const publicRaw = () =>
  Buffer.from(createPublicKey(privateKey).export({ format: "jwk" }).x ?? "", "base64url");

describe("refused", () => {
  const cases: readonly (readonly [string, () => Promise<string> | string])[] = [
    [
      "alg none",
      () =>
        new UnsecuredJWT({ sub: apiKeyId })
          .setIssuer(tokens.issuer)
          .setAudience("fairlead-operators")
          .setExpirationTime("1h")
          .encode(),
    ],
    [
      "alg none with the signature of a good one",
      async () => swapHeader(await forge(), { alg: "none", typ: "at+jwt" }),
    ],
    [
      "HS256 with the public key's PEM as secret",
      () => forge({ alg: "HS256", key: createSecretKey(Buffer.from(publicPem())) }),
    ],
    [
      "HS256 with the public key's bytes as secret",
      () => forge({ alg: "HS256", key: createSecretKey(publicRaw()) }),
    ],
    [
      "another algorithm in the header of a good one",
      async () => swapHeader(await forge(), { alg: "ES256", typ: "at+jwt" }),
    ],
    ["another key of the same kind", () => forge({ key: generateKeyPairSync("ed25519").privateKey })],
    ["a key that the token brings along", () => bringsItsOwnKey()],
    ["another audience", () => forge({ claims: { aud: "somebody-else" } })],
    ["no audience", () => forge({ claims: { aud: undefined } })],
    ["another issuer", () => forge({ claims: { iss: "fairlead:someone-else" } })],
    ["expired", () => forge({ claims: { exp: Math.floor(now / 1000) - 1 } })],
    ["no expiry", () => forge({ claims: { exp: undefined } })],
    ["not valid yet", () => forge({ claims: { nbf: Math.floor(now / 1000) + 60 } })],
    ["another type of token", () => forge({ header: { typ: "JWT" } })],
    [
      "a critical header nobody knows",
      () => forge({ header: { crit: ["exp"], exp: 1 } }).catch(() => "e30.e30.e30"),
    ],
    ["a subject that is no key's id", () => forge({ claims: { sub: "admin" } })],
    ["a changed payload", async () => changePayload(await forge())],
    ["a signature cut short", async () => (await forge()).slice(0, -4)],
    ["no signature", async () => `${(await forge()).split(".").slice(0, 2).join(".")}.`],
    ["two parts", async () => (await forge()).split(".").slice(0, 2).join(".")],
    ["nothing", () => ""],
  ];
  test.each(cases)("%s", async (_what, token) => {
    await expect(tokens.verify(await token())).rejects.toMatchObject({ code: "TOKEN_INVALID" });
  });

  test("a token of fifteen minutes ago", async () => {
    const { token } = await tokens.issue(apiKeyId);
    now += LIMITS.operatorTokenLifetimeMs;
    await expect(tokens.verify(token)).rejects.toMatchObject({ code: "TOKEN_INVALID" });
  });
});

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

function swapHeader(token: string, header: object): string {
  const [, payload, signature] = token.split(".");
  return [encode(header), payload, signature].join(".");
}

function changePayload(token: string): string {
  const [header, , signature] = token.split(".");
  return [header, encode({ ...decodeJwt(token), sub: randomUUID() }), signature].join(".");
}

async function bringsItsOwnKey(): Promise<string> {
  const own = generateKeyPairSync("ed25519");
  const jwk = own.publicKey.export({ format: "jwk" });
  return forge({ key: own.privateKey, header: { jwk } });
}
