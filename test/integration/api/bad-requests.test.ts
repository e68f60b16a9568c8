// What the operators' API answers to requests that it does not understand.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { errorOf, startAdminSite, type AdminSite } from "../../support/server/operators-site.ts";
import { newId } from "../../support/server/site.ts";

let here: AdminSite;
let call: AdminSite["call"];
let admin: string;

beforeAll(async () => {
  here = await startAdminSite();
  ({ call, admin } = here);
});
afterAll(() => here.stop());

describe("bad requests", () => {
  test("a field that breaks its schema is named, and no stack is shown", async () => {
    const answer = await call("POST", "/api/v1/enrollment-tokens", {
      token: admin,
      payload: { name: "a\u001b[31m", chain_profile_ids: ["web"], node_type: "edge" },
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

  test.each([
    ["a query", "GET", "nodes?node_type=a%00b", undefined, "querystring.node_type"],
    ["a body's text", "POST", `nodes/${newId()}/revoke`, { reason: "a\0b" }, "body.reason"],
    ["half a character", "POST", `nodes/${newId()}/revoke`, { reason: "\ud800" }, "body.reason"],
    [
      "a label's name",
      "POST",
      "enrollment-tokens",
      { name: "n", chain_profile_ids: ["p"], node_type: "t", labels: { "\ud800": "x" } },
      "body.labels",
    ],
  ] as const)(
    "text that no database stores is refused in %s",
    async (_what, method, path, payload, field) => {
      const answer = await call(method, `/api/v1/${path}`, { token: admin, ...(payload && { payload }) });
      const { code, message } = errorOf(answer);
      expect(code).toBe("INVALID_INPUT");
      expect(message).toContain(field);
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
