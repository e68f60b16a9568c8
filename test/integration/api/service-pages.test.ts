// The server's own pages, and how it is reached.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  callerOf,
  errorOf,
  startOperatorsSite,
  type OperatorsSite,
} from "../../support/server/operators-site.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { newId, startOperators } from "../../support/server/site.ts";

let here: OperatorsSite;
let call: ReturnType<typeof callerOf>;

beforeAll(async () => {
  here = await startOperatorsSite();
  call = callerOf(here.app);
});
afterAll(() => here.stop());

describe("the server's own pages", () => {
  test("health and readiness answer without a token; metrics are not on the operators' address", async () => {
    expect((await call("GET", "/healthz")).json()).toEqual({ status: "ok" });
    expect((await call("GET", "/readyz")).statusCode).toBe(200);
    expect((await call("HEAD", "/healthz")).statusCode).toBe(200);
    const metrics = await call("GET", "/metrics");
    expect(metrics.statusCode).toBe(404);
    expect(metrics.body).not.toContain("fairlead_");
  });

  test("a server that is not ready says so and why", async () => {
    const waiting = await startOperators(here.db, here.site, {
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
      await expect(startOperators(here.db, here.site, { listenHost })).rejects.toMatchObject({
        code: "INVALID_INPUT",
      });
    },
  );

  test.each(["127.0.0.1", "::1", "localhost", "127.8.8.8"])(
    "plain HTTP on %s is allowed",
    async (listenHost) => {
      await (await startOperators(here.db, here.site, { listenHost })).close();
    },
  );

  test("failed sign-ins from one address are bounded, and lock nobody out who has the right key", async () => {
    const bounded = await startOperators(here.db, here.site, { failedSignInsPerMinuteMax: 3 });
    const attempt = (api_key = "flk_wrong-wrong") =>
      bounded.inject({
        method: "POST",
        url: "/api/v1/auth/token",
        payload: { api_key },
        headers: { "x-forwarded-for": newId() },
      });
    const codes = [];
    for (let i = 0; i < 5; i++) codes.push((await attempt()).statusCode);
    expect(codes).toEqual([401, 401, 401, 429, 429]);
    const refused = await attempt();
    expect(errorOf(refused).code).toBe("TOO_MANY_REQUESTS");
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
    const right = await createApiKey(here.db, "neighbour", ["admin"]);
    expect((await attempt(right)).statusCode).toBe(200);
    expect((await attempt()).statusCode).toBe(429); // a success forgives no failure
    const events = await here.db<{ data: unknown }[]>`select data from events where kind = 'sign_in.refused'`;
    expect(events.map(({ data }) => data)).toEqual([{ address: "127.0.0.1" }]);
    await bounded.close();
  });
});
