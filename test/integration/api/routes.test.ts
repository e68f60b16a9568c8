// Every route of the operators' API as a stranger, as somebody without rights and as an administrator sees it.

import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { LIMITS } from "../../../src/core/limits.ts";
import { NodeList, NodeView, WhoAmI } from "../../../src/core/protocol/operator-api.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { initializeSite, makeSite, newId, startOperators, type Site } from "../../support/server/site.ts";

let databases: TestDatabases;
let db: Database;
let site: Site;
let app: FastifyInstance;
let admin: string;
let nobody: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  app = await startOperators(db, site);
  admin = await tokenOf(await createApiKey(db, "boss", ["admin"]));
  nobody = await tokenOf(await createApiKey(db, "guest", []));
});
afterAll(async () => {
  await app.close();
  await site.remove();
  await databases.stop();
});

async function tokenOf(apiKey: string): Promise<string> {
  const answer = await app.inject({
    method: "POST",
    url: "/api/v1/auth/token",
    payload: { api_key: apiKey },
  });
  expect(answer.statusCode).toBe(200);
  return answer.json<{ token: string }>().token;
}

type Method = "GET" | "POST" | "DELETE" | "PUT" | "HEAD" | "OPTIONS";
interface Call {
  readonly token?: string;
  readonly payload?: object | string;
  readonly headers?: Record<string, string>;
}

async function call(method: Method, url: string, { token, payload, headers = {} }: Call = {}) {
  return app.inject({
    method,
    url,
    headers: { ...headers, ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
    ...(payload === undefined ? {} : { payload }),
  });
}

const errorOf = (answer: { json: <T>() => T }) =>
  answer.json<{ error: { code: string; message: string; next: string; request_id: string } }>().error;

const Paths = z.object({
  openapi: z.string(),
  paths: z.record(z.string(), z.record(z.string(), z.object({ security: z.array(z.unknown()).optional() }))),
});

/** From the document, so that a route that is added later is tested without being listed. */
async function documented() {
  const { paths } = Paths.parse((await call("GET", "/openapi.json")).json());
  return Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { security }]) => ({
        method: method.toUpperCase() as Method,
        url: path.replaceAll("{id}", newId()),
        path,
        open: security?.length === 0,
      })),
    );
}

test("the document is OpenAPI 3.1 and names every route of the contract", async () => {
  const document = (await call("GET", "/openapi.json")).json<{
    openapi: string;
    components: { schemas: object };
  }>();
  expect(document.openapi).toMatch(/^3\.1/);
  expect(Object.keys(document.components.schemas)).toContain("RolloutView");
  const routes = (await documented()).map(({ method, path }) => `${method} ${path}`).toSorted();
  expect(routes).toEqual(
    [
      "DELETE /api/v1/auth/session",
      "GET /api/v1/events",
      "GET /api/v1/keys",
      "POST /api/v1/keys",
      "POST /api/v1/keys/{id}/promote",
      "POST /api/v1/keys/{id}/retire",
      "GET /api/v1/trust/bundles/newest",
      "POST /api/v1/trust/bundles",
      "GET /api/v1/nodes",
      "GET /api/v1/nodes/{id}",
      "GET /api/v1/nodes/{id}/membership",
      "GET /api/v1/nodes/{id}/snapshots",
      "GET /api/v1/nodes/{id}/snapshots/{scope}",
      "PUT /api/v1/nodes/{id}/membership",
      "GET /api/v1/snapshots",
      "GET /api/v1/revocations",
      "POST /api/v1/revocations",
      "DELETE /api/v1/revocations/{seq}",
      ...["organizations", "policies", "secret-refs", "services", "storage-endpoints"].flatMap((plural) => [
        `GET /api/v1/model/${plural}`,
        ...["GET", "PUT", "DELETE"].map((method) => `${method} /api/v1/model/${plural}/{name}`),
      ]),
      "GET /api/v1/rollouts",
      "GET /api/v1/rollouts/{id}",
      "GET /api/v1/rollouts/{id}/events",
      "GET /api/v1/rollouts/{id}/nodes",
      "GET /api/v1/trust",
      "GET /api/v1/whoami",
      "POST /api/v1/auth/session",
      "POST /api/v1/auth/sign-in-link",
      "POST /api/v1/auth/token",
      "POST /api/v1/bootstrap",
      "POST /api/v1/bootstrap/trust-bundle",
      "POST /api/v1/enrollment-tokens",
      "POST /api/v1/grants",
      "POST /api/v1/nodes/{id}/revoke",
      "POST /api/v1/rollouts",
      "POST /api/v1/rollouts/{id}/cancel",
      "POST /api/v1/rollouts/{id}/pause",
      "POST /api/v1/rollouts/{id}/resume",
      "POST /api/v1/rollouts/{id}/start",
    ].toSorted(),
  );
});

describe("access", () => {
  test("every route answers 401 without a token and with a forged one, but for those that open the door", async () => {
    const routes = await documented();
    const closed = routes.filter(({ open }) => !open);
    expect(closed).toHaveLength(routes.length - 5);
    for (const { method, url } of closed) {
      const bare = await call(method, url);
      expect([method, url, bare.statusCode, errorOf(bare).code]).toEqual([
        method,
        url,
        401,
        "UNAUTHENTICATED",
      ]);
      const forged = await call(method, url, { token: "e30.e30.e30" });
      expect([method, url, forged.statusCode, errorOf(forged).code]).toEqual([
        method,
        url,
        401,
        "TOKEN_INVALID",
      ]);
    }
  });

  test("every route answers 403 to a token without admin, but for whoami", async () => {
    const routes = (await documented()).filter(({ open, path }) => !open && path !== "/api/v1/whoami");
    for (const { method, url } of routes) {
      const answer = await call(method, url, {
        token: nobody,
        payload: method === "POST" ? {} : undefined,
      } as Call);
      expect([method, url, answer.statusCode, errorOf(answer).code]).toEqual([method, url, 403, "FORBIDDEN"]);
    }
  });

  test("whoami tells the user and his scopes, also when he has none", async () => {
    const boss = WhoAmI.parse((await call("GET", "/api/v1/whoami", { token: admin })).json());
    expect(boss).toEqual({
      user: "key:boss",
      scopes: ["admin"],
      cluster_id: site.clusterId,
      intents_required: true,
    });
    const guest = WhoAmI.parse((await call("GET", "/api/v1/whoami", { token: nobody })).json());
    expect(guest.scopes).toEqual([]);
  });

  test("an API key itself is no token", async () => {
    const key = await createApiKey(db, "raw", ["admin"]);
    expect(errorOf(await call("GET", "/api/v1/whoami", { token: key })).code).toBe("TOKEN_INVALID");
  });

  test("a revoked API key gets no token, and the tokens it got are refused at once", async () => {
    const key = await createApiKey(db, "leaver", ["admin"]);
    const token = await tokenOf(key);
    expect((await call("GET", "/api/v1/nodes", { token })).statusCode).toBe(200);
    await db`update api_keys set revoked_at = now() where name = 'leaver'`;
    expect(errorOf(await call("GET", "/api/v1/nodes", { token })).code).toBe("TOKEN_INVALID");
    const again = await call("POST", "/api/v1/auth/token", { payload: { api_key: key } });
    expect(errorOf(again).code).toBe("UNAUTHENTICATED");
  });

  test("a user who sends scopes along does not get them", async () => {
    const key = await createApiKey(db, "greedy", []);
    const asked = await call("POST", "/api/v1/auth/token", { payload: { api_key: key, scopes: ["admin"] } });
    expect(errorOf(asked).code).toBe("INVALID_INPUT");
    const grant = { issuer: "https://issuer.test", subject: "greedy", scopes: ["admin"] };
    const granted = await call("POST", "/api/v1/grants", { token: await tokenOf(key), payload: grant });
    expect(errorOf(granted).code).toBe("FORBIDDEN");
    expect(await db`select 1 from oidc_grants`).toHaveLength(0);
  });
});

describe("bad requests", () => {
  test("a field that breaks its schema is named, and no stack is shown", async () => {
    const answer = await call("POST", "/api/v1/enrollment-tokens", {
      token: admin,
      payload: { name: "a\u001b[31m", chain_profile_id: "web", node_type: "edge" },
    });
    expect(answer.statusCode).toBe(400);
    const error = errorOf(answer);
    expect(error.code).toBe("INVALID_INPUT");
    expect(error.message).toMatch(/^body\.name: /);
    expect(error.request_id).toBe(answer.headers["x-request-id"]);
    expect(answer.body).not.toMatch(/node_modules|\.ts:/);
  });

  test("of a rollout's two forms, the one that was meant is complained about", async () => {
    const answer = await call("POST", "/api/v1/rollouts", {
      token: admin,
      payload: {
        id: newId(),
        chain_profile_id: "web",
        node_type: "edge",
        source_version: "1",
        batch_size: 0,
        upgrade_id: "u",
      },
    });
    expect(errorOf(answer).message).toMatch(/^body\.batch_size: /);
  });

  test.each([
    ["JSON that is cut off", '{"api_key": "x', "INVALID_INPUT"],
    [
      "a prototype in disguise",
      '{"__proto__": {"scopes": ["admin"]}, "api_key": "0123456789"}',
      "INVALID_INPUT",
    ],
    ["a body of another type", "api_key=1", "INVALID_INPUT"],
    [
      "a body beyond its bound",
      JSON.stringify({ api_key: "x".repeat(LIMITS.requestBytesMax) }),
      "PAYLOAD_TOO_LARGE",
    ],
    ["a hundred thousand brackets", "[".repeat(100_000), "INVALID_INPUT"],
  ])("%s is refused", async (what, payload, code) => {
    const type = what === "a body of another type" ? "application/x-www-form-urlencoded" : "application/json";
    const answer = await call("POST", "/api/v1/auth/token", { payload, headers: { "content-type": type } });
    expect(errorOf(answer).code).toBe(code);
  });

  test.each(["bm90IGpzb24", "%00", Buffer.from('{"name":1}').toString("base64url")])(
    "a cursor that no list gave out is refused: %s",
    async (cursor) => {
      const answer = await call("GET", `/api/v1/nodes?cursor=${cursor}`, { token: admin });
      expect(errorOf(answer).code).toBe("INVALID_INPUT");
    },
  );

  test("an id that is no id and an unknown query parameter are refused", async () => {
    expect(errorOf(await call("GET", "/api/v1/nodes/..%2f..%2fetc", { token: admin })).message).toMatch(
      /^params\.id: /,
    );
    expect(errorOf(await call("GET", "/api/v1/nodes?limit=0", { token: admin })).message).toMatch(
      /^querystring\.limit: /,
    );
    expect(errorOf(await call("GET", "/api/v1/nodes?colour=red", { token: admin })).code).toBe(
      "INVALID_INPUT",
    );
  });

  test("an unknown address and an unknown method are NOT_FOUND; a preflight gets no permission", async () => {
    expect(errorOf(await call("GET", "/api/v1/nowhere", { token: admin })).code).toBe("NOT_FOUND");
    expect(errorOf(await call("PUT", "/api/v1/rollouts", { token: admin })).code).toBe("NOT_FOUND");
    const preflight = await call("OPTIONS", "/api/v1/rollouts", { headers: { origin: "https://evil.test" } });
    expect(preflight.statusCode).toBe(404);
    expect(preflight.headers["access-control-allow-origin"]).toBeUndefined();
  });
});

describe("nodes", () => {
  test("nodes are listed by name in pages, filtered, and shown one by one", async () => {
    for (const name of ["c", "a", "d", "b"]) {
      const payload = {
        name: `page-${name}`,
        chain_profile_id: name === "d" ? "other" : "pages",
        node_type: "edge",
      };
      expect((await call("POST", "/api/v1/enrollment-tokens", { token: admin, payload })).statusCode).toBe(
        201,
      );
    }
    const first = NodeList.parse(
      (await call("GET", "/api/v1/nodes?chain_profile_id=pages&limit=2", { token: admin })).json(),
    );
    expect(first.nodes.map(({ name }) => name)).toEqual(["page-a", "page-b"]);
    const rest = NodeList.parse(
      (
        await call("GET", `/api/v1/nodes?chain_profile_id=pages&limit=2&cursor=${first.next_cursor}`, {
          token: admin,
        })
      ).json(),
    );
    expect(rest.nodes.map(({ name }) => name)).toEqual(["page-c"]);
    expect(rest.next_cursor).toBeNull();
    const one = NodeView.parse(
      (await call("GET", `/api/v1/nodes/${first.nodes[0]!.id}`, { token: admin })).json(),
    );
    expect(one).toMatchObject({ name: "page-a", enrolled: false, binary_version: null, programs: [] });
    expect(errorOf(await call("GET", `/api/v1/nodes/${newId()}`, { token: admin })).code).toBe("NOT_FOUND");
  });

  test("a revoked node is shown as such, with who did it and why in its event", async () => {
    const payload = { name: "to-revoke", chain_profile_id: "web", node_type: "edge" };
    const { node_id } = (await call("POST", "/api/v1/enrollment-tokens", { token: admin, payload })).json<{
      node_id: string;
    }>();
    const revoke = `/api/v1/nodes/${node_id}/revoke`;
    const answer = await call("POST", revoke, { token: admin, payload: { reason: "stolen" } });
    expect(NodeView.parse(answer.json()).revoked_at).not.toBeNull();
    expect((await call("POST", revoke, { token: admin })).statusCode).toBe(200);
    const events =
      await db`select actor, data from events where node_id = ${node_id} and kind = 'node.revoked'`;
    expect([...events]).toEqual([{ actor: "key:boss", data: { reason: "stolen" } }]);
    expect(errorOf(await call("POST", `/api/v1/nodes/${newId()}/revoke`, { token: admin })).code).toBe(
      "NOT_FOUND",
    );
  });
});

describe("the server's own pages", () => {
  test("health, readiness and metrics answer without a token", async () => {
    expect((await call("GET", "/healthz")).json()).toEqual({ status: "ok" });
    expect((await call("GET", "/readyz")).statusCode).toBe(200);
    expect((await call("HEAD", "/healthz")).statusCode).toBe(200);
    const metrics = (await call("GET", "/metrics")).body;
    expect(metrics).toContain('fairlead_http_requests_total{listener="operators"');
    expect(metrics).toContain("# TYPE fairlead_rollout_active gauge");
  });

  test("a server that is not ready says so and why", async () => {
    const waiting = await startOperators(db, site, {
      ready: async () => ({ ready: false, reasons: ["no engine"] }),
    });
    const answer = await waiting.inject({ url: "/readyz" });
    expect([answer.statusCode, answer.json()]).toEqual([503, { ready: false, reasons: ["no engine"] }]);
    await waiting.close();
  });

  test("the API's page reads without a script, and every answer carries its security headers", async () => {
    const page = await call("GET", "/docs");
    expect(page.body).toContain("POST</b> <code>/api/v1/rollouts");
    expect(page.body).not.toMatch(/<script|https?:\/\//);
    for (const answer of [page, await call("GET", "/api/v1/nodes"), await call("GET", "/nowhere")]) {
      expect(answer.headers["content-security-policy"]).toContain("frame-ancestors 'none'");
      expect(answer.headers["content-security-policy"]).toContain("default-src 'self'");
      expect(answer.headers["x-content-type-options"]).toBe("nosniff");
    }
  });

  test.each(["0.0.0.0", "::", "192.0.2.1", "fairlead.test"])(
    "plain HTTP on %s is refused",
    async (listenHost) => {
      await expect(startOperators(db, site, { listenHost })).rejects.toMatchObject({ code: "INVALID_INPUT" });
    },
  );

  test.each(["127.0.0.1", "::1", "localhost", "127.8.8.8"])(
    "plain HTTP on %s is allowed",
    async (listenHost) => {
      await (await startOperators(db, site, { listenHost })).close();
    },
  );

  test("sign-in from one address is bounded", async () => {
    const bounded = await startOperators(db, site, { signInsPerMinuteMax: 3 });
    const attempt = () =>
      bounded.inject({
        method: "POST",
        url: "/api/v1/auth/token",
        payload: { api_key: "flk_wrong-wrong" },
        headers: { "x-forwarded-for": newId() },
      });
    const codes = [];
    for (let i = 0; i < 5; i++) codes.push((await attempt()).statusCode);
    expect(codes).toEqual([401, 401, 401, 429, 429]);
    const refused = await attempt();
    expect(errorOf(refused).code).toBe("TOO_MANY_REQUESTS");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    await bounded.close();
  });
});
