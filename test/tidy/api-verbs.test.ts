// Whatever the API can do, the command line can do: every operation of the OpenAPI document has a verb.

import { beforeAll, expect, test } from "vitest";
import { COMMANDS } from "../../src/cli/specs/index.ts";
import { createOperatorsApp } from "../../src/server/api/app.ts";
import type { OperatorsDeps } from "../../src/server/api/deps.ts";
import { createServerMetrics } from "../../src/server/metrics/server-metrics.ts";

/** Operation → verb. A browser's own business and what a load balancer asks have none. */
const VERBS: Readonly<Record<string, string>> = {
  "POST /auth/token": "login",
  "POST /auth/sign-in-link": "console",
  "GET /whoami": "whoami",
  "POST /bootstrap": "init",
  "POST /bootstrap/trust-bundle": "init",
  "GET /trust": "node token",
  "GET /trust/bundles/newest": "keys introduce",
  "POST /trust/bundles": "root publish",
  "GET /keys": "keys list",
  "POST /keys": "keys introduce",
  "POST /keys/{id}/promote": "keys promote",
  "POST /keys/{id}/retire": "keys retire",
  "POST /authority/confirm-time": "authority confirm-time",
  "GET /grants": "grant list",
  "POST /grants": "grant set",
  "GET /api-keys": "api-key list",
  "POST /api-keys": "api-key create",
  "POST /api-keys/{id}/revoke": "api-key revoke",
  "POST /enrollment-tokens": "node token",
  "GET /enrollment-keys": "node enroll-key list",
  "POST /enrollment-keys": "node enroll-key create",
  "POST /enrollment-keys/{id}/revoke": "node enroll-key revoke",
  "POST /nodes/{id}/approve": "node approve",
  "GET /nodes": "node list",
  "GET /nodes/{id}": "node show",
  "GET /nodes/{id}/events": "node timeline",
  "POST /nodes/{id}/adopt": "node adopt",
  "POST /nodes/{id}/revoke": "node revoke",
  "POST /nodes/{id}/profiles": "node profile",
  "POST /nodes/{id}/profiles/{profile}/remove": "node profile",
  "GET /nodes/{id}/membership": "node set",
  "PUT /nodes/{id}/membership": "node set",
  "GET /model/{kind}": "model list",
  "GET /model/{kind}/{name}": "model show",
  "PUT /model/{kind}/{name}": "model set",
  "DELETE /model/{kind}/{name}": "model delete",
  "GET /revocations": "revocation list",
  "POST /revocations": "revocation add",
  "DELETE /revocations/{seq}": "revocation lift",
  "GET /snapshots": "snapshot list",
  "GET /nodes/{id}/snapshots": "snapshot list",
  "GET /nodes/{id}/snapshots/{scope}": "snapshot show",
  "GET /manifests": "manifest list",
  "GET /manifests/{profile}/{upgradeId}": "manifest show",
  "GET /schemas/upgrade-manifest.json": "manifest schema",
  "POST /rollouts": "rollout create",
  "GET /rollouts": "rollout list",
  "GET /rollouts/{id}": "rollout show",
  "GET /rollouts/{id}/nodes": "rollout nodes",
  "GET /rollouts/{id}/events": "rollout watch",
  "POST /rollouts/{id}/start": "rollout start",
  "POST /rollouts/{id}/pause": "rollout pause",
  "POST /rollouts/{id}/resume": "rollout resume",
  "POST /rollouts/{id}/cancel": "rollout cancel",
  "POST /rollouts/{id}/force": "rollout force",
  "POST /rollouts/{id}/approve-canary": "rollout approve-canary",
  "POST /rollouts/{id}/rollback": "rollout rollback",
  "POST /rollouts/{id}/retry": "rollout retry",
  "POST /rollouts/{id}/give-up": "rollout give-up",
  "POST /rollouts/{id}/nodes/{nodeId}/give-up": "rollout give-up",
  "POST /rollouts/{id}/nodes/{nodeId}/retry": "rollout retry",
  "POST /rollouts/{id}/nodes/{nodeId}/skip": "rollout skip",
  "POST /rollout-groups": "group create",
  "GET /rollout-groups": "group list",
  "GET /rollout-groups/{id}": "group show",
  "GET /rollout-groups/{id}/status": "group show",
  "POST /rollout-groups/{id}/start": "group start",
  "POST /rollout-groups/{id}/pause": "group pause",
  "POST /rollout-groups/{id}/resume": "group resume",
  "POST /rollout-groups/{id}/cancel": "group cancel",
  "POST /rollout-groups/{id}/rollback": "group rollback",
  "POST /rollout-groups/{id}/skip": "group skip",
  "GET /events": "events",
  "GET /incidents": "incident list",
  "GET /incidents/{id}": "incident show",
  "POST /incidents/{id}/acknowledge": "incident acknowledge",
  "POST /incidents/{id}/resolve": "incident resolve",
  "GET /webhooks": "webhook list",
  "POST /webhooks": "webhook add",
  "GET /webhooks/{id}": "webhook show",
  "DELETE /webhooks/{id}": "webhook remove",
  "POST /webhooks/{id}/enable": "webhook enable",
  "POST /webhooks/{id}/disable": "webhook disable",
  "POST /webhooks/{id}/test": "webhook test",
  "GET /webhooks/{id}/deliveries": "webhook deliveries",
  "POST /webhooks/{id}/deliveries/{deliveryId}/redeliver": "webhook redeliver",
};
const BROWSERS_OWN = new Set(["POST /auth/session", "DELETE /auth/session"]);

const withoutVerb = (operations: readonly string[]): string[] =>
  operations.filter((operation) => VERBS[operation] === undefined && !BROWSERS_OWN.has(operation));

let operations: string[];

/** Routes are described without being served, so nothing that they stand on is needed. */
beforeAll(async () => {
  const nothing = new Proxy({}, { get: () => undefined });
  const deps = new Proxy(
    { metrics: createServerMetrics(), listenHost: "127.0.0.1", version: "0" },
    {
      get: (given, name) =>
        name in given
          ? given[name as keyof typeof given]
          : name === "tls" || name === "consoleDir"
            ? undefined
            : nothing,
    },
  );
  const app = await createOperatorsApp(deps as unknown as OperatorsDeps);
  await app.ready();
  const { paths } = (await app.inject("/openapi.json")).json<{ paths: Record<string, object> }>();
  operations = Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/v1/"))
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${shortened(path)}`),
    );
  await app.close();
});

/** The kinds of the model are five paths of one shape, and one argument of one verb. */
const shortened = (path: string): string =>
  path.replace("/api/v1", "").replace(/^\/model\/[a-z-]+/, "/model/{kind}");

test("ROLL-18: every operation of the API has a verb of the command line", () => {
  expect(operations.length).toBeGreaterThan(60);
  expect(withoutVerb(operations)).toEqual([]);
});

test("ROLL-18: every verb in the table exists, and so does every operation", () => {
  const verbs = new Set(COMMANDS.map(({ path }) => path));
  expect(Object.values(VERBS).filter((verb) => !verbs.has(verb))).toEqual([]);
  expect(Object.keys(VERBS).filter((operation) => !operations.includes(operation))).toEqual([]);
});

test("a route that nobody gave a verb is found", () => {
  expect(withoutVerb([...operations, "POST /rollouts/{id}/melt"])).toEqual(["POST /rollouts/{id}/melt"]);
});
