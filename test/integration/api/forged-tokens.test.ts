// Tokens that somebody made for himself, at the API's door: none of them reads or writes anything.

import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { SignJWT, UnsecuredJWT, type JWTPayload } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { insertApiKey } from "../../../src/server/auth/api-keys.ts";
import {
  callerOf,
  errorOf,
  startOperatorsSite,
  type OperatorsSite,
} from "../../support/server/operators-site.ts";

let here: OperatorsSite;
let call: ReturnType<typeof callerOf>;
let own: KeyObject;
let boss: JWTPayload;
let guest: JWTPayload;

beforeAll(async () => {
  here = await startOperatorsSite();
  call = callerOf(here.app);
  own = createPrivateKey(await readFile(join(here.site.keysDir, "operator-token-key.pem"), "utf8"));
  const claims = { iss: `fairlead:${here.site.clusterId}`, aud: "fairlead-operators" };
  boss = { ...claims, sub: (await insertApiKey(here.db, "boss", ["admin"])).id };
  guest = { ...claims, sub: (await insertApiKey(here.db, "guest", [])).id };
});
afterAll(() => here.stop());

const inAnHour = (): number => Math.floor(Date.now() / 1000) + 3_600;

/** With the server's own key unless said, so that a token is refused for what is wrong with it alone. */
const signed = (
  claims: JWTPayload | { exp: undefined },
  { alg = "EdDSA", key = own } = {},
): Promise<string> =>
  new SignJWT({ iat: Math.floor(Date.now() / 1000) - 60, exp: inAnHour(), ...claims } as JWTPayload)
    .setProtectedHeader({ alg, typ: "at+jwt" })
    .sign(key);

const publicPem = (): Buffer =>
  Buffer.from(createPublicKey(own).export({ type: "spki", format: "pem" }).toString());
const publicBytes = (): Buffer =>
  Buffer.from(createPublicKey(own).export({ format: "jwk" }).x ?? "", "base64url");
const symmetric = (secret: Buffer) => ({ alg: "HS256", key: createSecretKey(secret) });
const GRANT = { issuer: "https://issuer.test", subject: "mallory", scopes: ["admin"] };

const read = (token: string) => call("GET", "/api/v1/nodes", { token });
const write = (token: string) => call("POST", "/api/v1/grants", { token, payload: GRANT });

test("a token in order opens the door, so that the others are refused for their fault", async () => {
  expect((await read(await signed(boss))).statusCode).toBe(200);
});

test.each<[string, () => Promise<string> | string]>([
  ["alg none", () => new UnsecuredJWT({ ...boss, exp: inAnHour() }).encode()],
  ["HS256 with the public key's PEM as its secret", () => signed(boss, symmetric(publicPem()))],
  ["HS256 with the public key's bytes as its secret", () => signed(boss, symmetric(publicBytes()))],
  ["another audience", () => signed({ ...boss, aud: "another-service" })],
  ["another site as its issuer", () => signed({ ...boss, iss: "fairlead:another" })],
  ["its time over", () => signed({ ...boss, exp: Math.floor(Date.now() / 1000) - 1 })],
  ["no end", () => signed({ ...boss, exp: undefined })],
])("ROLL-18: a token with %s reads nothing and writes nothing", async (_what, make) => {
  const token = await make();
  for (const answer of [await read(token), await write(token)])
    expect([answer.statusCode, errorOf(answer).code]).toEqual([401, "TOKEN_INVALID"]);
  expect(await here.db`select 1 from oidc_grants`).toHaveLength(0);
});

test("ROLL-18: a token that claims the scope admin has the scopes of its key's row, which are none", async () => {
  const token = await signed({ ...guest, scope: "admin", scopes: ["admin"], roles: ["admin"] });
  for (const answer of [await read(token), await write(token)])
    expect([answer.statusCode, errorOf(answer).code]).toEqual([403, "FORBIDDEN"]);
  expect(await here.db`select 1 from oidc_grants`).toHaveLength(0);
});
