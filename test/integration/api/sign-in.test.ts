// How people get in: a browser by a link, a subject of the OpenID issuer by a grant.

import { generateKeyPairSync } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/host/clock.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { createOidcVerifier } from "../../../src/server/auth/oidc.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { issueLeaf, newP256Key } from "../../../src/server/identity/certificates.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { ask } from "../../support/server/agent-client.ts";
import { initializeSite, makeSite, startOperators, type Site } from "../../support/server/site.ts";

const ISSUER = "https://issuer.test";
const AUDIENCE = "fairlead";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });

let databases: TestDatabases;
let db: Database;
let site: Site;
let app: FastifyInstance;
let admin: string;
let issuer: Server;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  const keys = JSON.stringify({ keys: [{ ...rsa.publicKey.export({ format: "jwk" }), kid: "1" }] });
  issuer = createServer((_request, response) => response.end(keys));
  await new Promise<void>((done) => issuer.listen(0, "127.0.0.1", done));
  const jwks_uri = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}/keys`;
  const oidc = createOidcVerifier({ issuer: ISSUER, audience: AUDIENCE, jwks_uri }, systemClock);
  app = await startOperators(db, site, { oidc });
  const api_key = await createApiKey(db, "boss", ["admin"]);
  const answer = await app.inject({ method: "POST", url: "/api/v1/auth/token", payload: { api_key } });
  admin = answer.json<{ token: string }>().token;
});
afterAll(async () => {
  await app.close();
  issuer.close();
  await site.remove();
  await databases.stop();
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const codeOf = (answer: { json: <T>() => T }) => answer.json<{ error?: { code: string } }>().error?.code;

async function newLink(token = admin, host = "127.0.0.1:7400"): Promise<URL> {
  const answer = await app.inject({
    method: "POST",
    url: "/api/v1/auth/sign-in-link",
    headers: { ...bearer(token), host },
  });
  expect(answer.statusCode).toBe(200);
  return new URL(answer.json<{ url: string }>().url);
}

const signIn = (code: string, headers: Record<string, string> = {}) =>
  app.inject({
    method: "POST",
    url: "/api/v1/auth/session",
    payload: { code },
    headers: { host: "127.0.0.1:7400", ...headers },
  });

const codeIn = (link: URL): string => link.hash.replace("#code=", "");

async function newSession(): Promise<string> {
  const answer = await signIn(codeIn(await newLink()));
  return answer.cookies.find(({ name }) => name === "fairlead_session")!.value;
}

describe("the console", () => {
  test("a link carries its code in the fragment and opens a session for scripts out of reach", async () => {
    const link = await newLink();
    expect(link.origin).toBe("http://127.0.0.1:7400");
    expect(link.search).toBe("");
    const answer = await signIn(codeIn(link), { origin: "http://127.0.0.1:7400" });
    expect(answer.statusCode).toBe(204);
    const cookie = answer.headers["set-cookie"];
    expect(cookie).toMatch(/^fairlead_session=[\w-]{43};/);
    expect(cookie).toContain("HttpOnly");
    expect(cookie).toContain("SameSite=Strict");
    expect(cookie).not.toContain("Secure");
  });

  test("a link works once", async () => {
    const code = codeIn(await newLink());
    expect((await signIn(code)).statusCode).toBe(204);
    expect(codeOf(await signIn(code))).toBe("TOKEN_INVALID");
  });

  test("of several browsers that use one link at once, one gets in", async () => {
    const code = codeIn(await newLink());
    const answers = await Promise.all([1, 2, 3, 4].map(() => signIn(code)));
    expect(answers.filter(({ statusCode }) => statusCode === 204)).toHaveLength(1);
  });

  test("a link of ten minutes ago is refused", async () => {
    const code = codeIn(await newLink());
    await db`update sign_in_codes set expires_at = now()`;
    expect(codeOf(await signIn(code))).toBe("TOKEN_INVALID");
  });

  test("another page cannot sign a browser in", async () => {
    const code = codeIn(await newLink());
    expect(codeOf(await signIn(code, { origin: "http://evil.test" }))).toBe("ORIGIN_REFUSED");
  });

  test("a session reads, and writes from its own page only", async () => {
    const cookies = { fairlead_session: await newSession() };
    const host = "127.0.0.1:7400";
    const read = await app.inject({ url: "/api/v1/whoami", cookies, headers: { host } });
    expect(read.json()).toMatchObject({ user: "key:boss", scopes: ["admin"] });
    const write = (headers: Record<string, string>) =>
      app.inject({
        method: "POST",
        url: "/api/v1/auth/sign-in-link",
        cookies,
        headers: { host, ...headers },
      });
    expect((await write({ origin: `http://${host}` })).statusCode).toBe(200);
    expect(codeOf(await write({}))).toBe("ORIGIN_REFUSED");
    expect(codeOf(await write({ origin: "http://evil.test" }))).toBe("ORIGIN_REFUSED");
    expect(codeOf(await write({ origin: `https://${host}` }))).toBe("ORIGIN_REFUSED");
  });

  test("signing out ends the session on the server, not only in the browser", async () => {
    const cookies = { fairlead_session: await newSession() };
    const host = "127.0.0.1:7400";
    const out = (headers: Record<string, string>) =>
      app.inject({ method: "DELETE", url: "/api/v1/auth/session", cookies, headers: { host, ...headers } });
    expect(codeOf(await out({ origin: "http://evil.test" }))).toBe("ORIGIN_REFUSED");
    expect((await out({ origin: `http://${host}` })).statusCode).toBe(204);
    expect(codeOf(await app.inject({ url: "/api/v1/whoami", cookies }))).toBe("UNAUTHENTICATED");
  });

  test("an old or invented session is refused", async () => {
    const cookies = { fairlead_session: await newSession() };
    await db`update console_sessions set expires_at = now()`;
    expect(codeOf(await app.inject({ url: "/api/v1/whoami", cookies }))).toBe("UNAUTHENTICATED");
    const invented = { fairlead_session: "x".repeat(43) };
    expect(codeOf(await app.inject({ url: "/api/v1/whoami", cookies: invented }))).toBe("UNAUTHENTICATED");
  });

  test("neither code nor session lies in the database as it is", async () => {
    const code = codeIn(await newLink());
    const session = await newSession();
    const rows = JSON.stringify([
      await db`select * from sign_in_codes`,
      await db`select * from console_sessions`,
    ]);
    expect(rows).not.toContain(code);
    expect(rows).not.toContain(session);
  });
});

describe("a subject of the OpenID issuer", () => {
  const tokenOf = (sub: string, claims: object = {}) =>
    new SignJWT({ scope: "admin", scopes: ["admin"], ...claims })
      .setProtectedHeader({ alg: "RS256", kid: "1" })
      .setIssuer(ISSUER)
      .setAudience(AUDIENCE)
      .setSubject(sub)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(rsa.privateKey);
  const grant = (token: string, payload: object) =>
    app.inject({ method: "POST", url: "/api/v1/grants", headers: bearer(token), payload });

  test("is known but may do nothing, whatever its token claims", async () => {
    const token = await tokenOf("ann");
    const who = await app.inject({ url: "/api/v1/whoami", headers: bearer(token) });
    expect(who.json()).toMatchObject({ user: "oidc:ann", scopes: [] });
    expect(codeOf(await app.inject({ url: "/api/v1/nodes", headers: bearer(token) }))).toBe("FORBIDDEN");
  });

  test("cannot grant itself anything; an administrator can, and can take it back with its open sessions", async () => {
    const token = await tokenOf("bob");
    const wish = { issuer: ISSUER, subject: "bob", scopes: ["admin"] };
    expect(codeOf(await grant(token, wish))).toBe("FORBIDDEN");
    expect((await grant(admin, wish)).statusCode).toBe(200);
    expect((await app.inject({ url: "/api/v1/nodes", headers: bearer(token) })).statusCode).toBe(200);
    const session = (await signIn(codeIn(await newLink(token)))).cookies[0]!.value;

    expect((await grant(admin, { ...wish, scopes: [] })).statusCode).toBe(200);
    expect(codeOf(await app.inject({ url: "/api/v1/nodes", headers: bearer(token) }))).toBe("FORBIDDEN");
    const cookies = { fairlead_session: session };
    expect(codeOf(await app.inject({ url: "/api/v1/nodes", cookies }))).toBe("UNAUTHENTICATED");
  });

  test("grants are listed with who made them, page by page, and each leaves an event with who and why", async () => {
    const wish = { issuer: ISSUER, subject: "eve", scopes: ["admin"], reason: "on call" };
    expect((await grant(admin, wish)).json()).toMatchObject({ subject: "eve", granted_by: "key:boss" });
    expect((await grant(admin, { ...wish, subject: "fay", scopes: [] })).statusCode).toBe(200);
    const subjects: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = (
        await app.inject({ url: `/api/v1/grants?limit=1${after}`, headers: bearer(admin) })
      ).json<{
        grants: { subject: string; scopes: string[]; granted_by: string }[];
        next_cursor: string | null;
      }>();
      subjects.push(
        ...page.grants.map(({ subject, scopes, granted_by }) => `${subject} ${scopes.join()} ${granted_by}`),
      );
      cursor = page.next_cursor;
    }
    expect(subjects).toEqual(expect.arrayContaining(["eve admin key:boss", "fay  key:boss"]));
    expect(codeOf(await app.inject({ url: "/api/v1/grants", headers: bearer(await tokenOf("gus")) }))).toBe(
      "FORBIDDEN",
    );
    const [event] = await eventsOf("grant.set", "eve");
    expect(event).toEqual({ actor: "key:boss", data: wish });
  });

  test("of another issuer with the same name is somebody else", async () => {
    await grant(admin, { issuer: "https://other.test", subject: "cid", scopes: ["admin"] });
    expect(codeOf(await app.inject({ url: "/api/v1/nodes", headers: bearer(await tokenOf("cid")) }))).toBe(
      "FORBIDDEN",
    );
  });

  test("a scope that does not exist is refused", async () => {
    expect(codeOf(await grant(admin, { issuer: ISSUER, subject: "dan", scopes: ["root"] }))).toBe(
      "INVALID_INPUT",
    );
  });
});

async function eventsOf(kind: string, subject?: string) {
  const rows = await db<{ actor: string | null; data: Record<string, unknown> }[]>`
    select actor, data from events where kind = ${kind} order by id`;
  return rows.filter(({ data }) => subject === undefined || data["subject"] === subject);
}

test("a token, a link, a session and its end leave events with who and from where, and none of their secrets", async () => {
  const api_key = await createApiKey(db, "traced", ["admin"]);
  for (let count = 0; count < 3; count += 1)
    await app.inject({ method: "POST", url: "/api/v1/auth/token", payload: { api_key } });
  const token = (await app.inject({ method: "POST", url: "/api/v1/auth/token", payload: { api_key } })).json<{
    token: string;
  }>().token;
  const code = codeIn(await newLink(token));
  const session = (await signIn(code)).cookies[0]!.value;
  const host = "127.0.0.1:7400";
  const out = { host, origin: `http://${host}` };
  const cookies = { fairlead_session: session };
  await app.inject({ method: "DELETE", url: "/api/v1/auth/session", cookies, headers: out });
  const traced = async (kind: string) => (await eventsOf(kind)).filter(({ actor }) => actor === "key:traced");
  expect(await traced("token.issued")).toEqual([{ actor: "key:traced", data: { address: "127.0.0.1" } }]);
  expect(await traced("sign_in_link.created")).toHaveLength(1);
  expect(await traced("session.opened")).toEqual([{ actor: "key:traced", data: { address: "127.0.0.1" } }]);
  expect(await traced("session.closed")).toHaveLength(1);
  const everything = JSON.stringify(await db`select * from events`);
  for (const secret of [api_key, token, code, session]) expect(everything).not.toContain(secret);
});

test("over HTTPS the cookie is for HTTPS only, and the browser is told to stay there", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-tls-"));
  const { pem, spki } = newP256Key();
  const names = [{ type: "ip", value: "127.0.0.1" }] as const;
  const leaf = await issueLeaf(site.ca.server, {
    commonName: "x",
    names,
    usage: "server",
    spki,
    now: Date.now(),
    lifetimeMs: 60_000,
  });
  const tls = { certFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  await writeFile(tls.certFile, leaf.toString("pem"));
  await writeFile(tls.keyFile, pem);
  const secure = await startOperators(db, site, { listenHost: "0.0.0.0", tls });
  const code = codeIn(await newLink());
  await secure.listen({ host: "127.0.0.1", port: 0 });
  const { port } = secure.server.address() as AddressInfo;
  const ca = [site.ca.server.certificatePem, site.ca.rootPem].join("\n");
  const answer = await ask(`https://127.0.0.1:${port}/api/v1/auth/session`, { ca, json: { code } });
  expect(answer.headers["set-cookie"]?.[0]).toContain("Secure");
  expect(answer.headers["strict-transport-security"]).toMatch(/^max-age=/);
  await secure.close();
  await rm(folder, { recursive: true });
});
