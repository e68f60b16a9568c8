// Every route of the operators' API as a stranger, as somebody without rights and as an administrator sees it.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { WhoAmI } from "../../../src/core/protocol/operator-api.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import {
  callerOf,
  errorOf,
  startOperatorsSite,
  tokenOf,
  type Call,
  type Method,
  type OperatorsSite,
} from "../../support/server/operators-site.ts";
import { newId } from "../../support/server/site.ts";

let here: OperatorsSite;
let call: ReturnType<typeof callerOf>;
let admin: string;
let nobody: string;

beforeAll(async () => {
  here = await startOperatorsSite();
  call = callerOf(here.app);
  admin = await tokenOf(here.app, await createApiKey(here.db, "boss", ["admin"]));
  nobody = await tokenOf(here.app, await createApiKey(here.db, "guest", []));
});
afterAll(() => here.stop());

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
        url: path.replaceAll(/\{(id|nodeId)\}/g, newId),
        path,
        open: security?.length === 0,
      })),
    );
}

test("ROLL-18: the document is OpenAPI 3.1 and names every route of the contract", async () => {
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
      "GET /api/v1/api-keys",
      "POST /api/v1/api-keys",
      "POST /api/v1/api-keys/{id}/revoke",
      "GET /api/v1/events",
      "GET /api/v1/keys",
      "POST /api/v1/keys",
      "POST /api/v1/keys/{id}/promote",
      "POST /api/v1/keys/{id}/retire",
      "GET /api/v1/trust/bundles/newest",
      "POST /api/v1/trust/bundles",
      "GET /api/v1/nodes",
      "GET /api/v1/nodes/{id}",
      "GET /api/v1/nodes/{id}/events",
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
      "GET /api/v1/incidents",
      "GET /api/v1/incidents/{id}",
      "POST /api/v1/incidents/{id}/acknowledge",
      "POST /api/v1/incidents/{id}/resolve",
      "GET /api/v1/webhooks",
      "POST /api/v1/webhooks",
      "GET /api/v1/webhooks/{id}",
      "DELETE /api/v1/webhooks/{id}",
      "POST /api/v1/webhooks/{id}/enable",
      "POST /api/v1/webhooks/{id}/disable",
      "POST /api/v1/webhooks/{id}/test",
      "GET /api/v1/webhooks/{id}/deliveries",
      "POST /api/v1/webhooks/{id}/deliveries/{deliveryId}/redeliver",
      "GET /api/v1/manifests",
      "GET /api/v1/manifests/{profile}/{upgradeId}",
      "GET /api/v1/schemas/upgrade-manifest.json",
      "GET /api/v1/rollouts",
      "GET /api/v1/rollouts/{id}",
      "GET /api/v1/rollouts/{id}/events",
      "GET /api/v1/rollouts/{id}/nodes",
      "GET /api/v1/trust",
      "GET /api/v1/whoami",
      "POST /api/v1/auth/session",
      "POST /api/v1/auth/sign-in-link",
      "POST /api/v1/auth/token",
      "POST /api/v1/authority/confirm-time",
      "POST /api/v1/bootstrap",
      "POST /api/v1/bootstrap/trust-bundle",
      "POST /api/v1/enrollment-tokens",
      "GET /api/v1/enrollment-keys",
      "POST /api/v1/enrollment-keys",
      "POST /api/v1/enrollment-keys/{id}/revoke",
      "POST /api/v1/nodes/{id}/approve",
      "GET /api/v1/grants",
      "POST /api/v1/grants",
      "POST /api/v1/nodes/{id}/adopt",
      "POST /api/v1/nodes/{id}/revoke",
      "POST /api/v1/nodes/{id}/profiles",
      "POST /api/v1/nodes/{id}/profiles/{profile}/remove",
      "POST /api/v1/rollouts",
      ...[
        "start",
        "pause",
        "resume",
        "cancel",
        "force",
        "approve-canary",
        "rollback",
        "retry",
        "give-up",
      ].map((signal) => `POST /api/v1/rollouts/{id}/${signal}`),
      "POST /api/v1/rollouts/{id}/nodes/{nodeId}/retry",
      "POST /api/v1/rollouts/{id}/nodes/{nodeId}/skip",
      "POST /api/v1/rollouts/{id}/nodes/{nodeId}/give-up",
      "GET /api/v1/rollout-groups",
      "POST /api/v1/rollout-groups",
      "GET /api/v1/rollout-groups/{id}",
      "GET /api/v1/rollout-groups/{id}/status",
      ...["start", "pause", "resume", "cancel", "rollback", "skip"].map(
        (signal) => `POST /api/v1/rollout-groups/{id}/${signal}`,
      ),
    ].toSorted(),
  );
});

describe("access", () => {
  test("every route answers 401 without a token and with a forged one, but for those that open the door", async () => {
    const routes = await documented();
    const closed = routes.filter(({ open }) => !open);
    expect(closed).toHaveLength(routes.length - 6);
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

  test("ROLL-18: every route answers 403 to a token without admin, but for whoami", async () => {
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
      cluster_id: here.site.clusterId,
      intents_required: true,
    });
    const guest = WhoAmI.parse((await call("GET", "/api/v1/whoami", { token: nobody })).json());
    expect(guest.scopes).toEqual([]);
  });

  test("an API key itself is no token", async () => {
    const key = await createApiKey(here.db, "raw", ["admin"]);
    expect(errorOf(await call("GET", "/api/v1/whoami", { token: key })).code).toBe("TOKEN_INVALID");
  });

  test("a revoked API key gets no token, and the tokens it got are refused at once", async () => {
    const key = await createApiKey(here.db, "leaver", ["admin"]);
    const token = await tokenOf(here.app, key);
    expect((await call("GET", "/api/v1/nodes", { token })).statusCode).toBe(200);
    await here.db`update api_keys set revoked_at = now() where name = 'leaver'`;
    expect(errorOf(await call("GET", "/api/v1/nodes", { token })).code).toBe("TOKEN_INVALID");
    const again = await call("POST", "/api/v1/auth/token", { payload: { api_key: key } });
    expect(errorOf(again).code).toBe("UNAUTHENTICATED");
  });

  test("a user who sends scopes along does not get them", async () => {
    const key = await createApiKey(here.db, "greedy", []);
    const asked = await call("POST", "/api/v1/auth/token", { payload: { api_key: key, scopes: ["admin"] } });
    expect(errorOf(asked).code).toBe("INVALID_INPUT");
    const grant = { issuer: "https://issuer.test", subject: "greedy", scopes: ["admin"] };
    const granted = await call("POST", "/api/v1/grants", {
      token: await tokenOf(here.app, key),
      payload: grant,
    });
    expect(errorOf(granted).code).toBe("FORBIDDEN");
    expect(await here.db`select 1 from oidc_grants`).toHaveLength(0);
  });
});
