// The model that snapshots are compiled from, through the operators' API on a real database.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";
import { enrolledNode, newId } from "../../support/server/site.ts";

let here: OperatorsSite;
let ask: Ask;
let edge: string;

const PEM = "-----BEGIN PRIVATE KEY-----";
const ROUTE = { kind: "route", body: { destinations: ["10.0.0.0/8"], via: "mesh", ttl_ms: 1000 } };
const DEGRADED = {
  kind: "degraded_mode",
  body: {
    allowed: ["continue_services"],
    offline_max_ms: 14_400_000,
    route_ttl_ms: 0,
    session_ttl_ms: 0,
    when_partitioned: "hold",
  },
};

beforeAll(async () => {
  here = await startOperatorsSite();
  ask = await administrator(here.app, here.db);
  edge = (await enrolledNode(here.db, here.site, "edge-1")).nodeId;
  for (const name of ["acme", "other"]) await ask("PUT", `/model/organizations/${name}`, {});
  await ask("PUT", `/nodes/${edge}/membership`, { roles: ["egress_service"], organizations: ["acme"] });
});
afterAll(() => here.stop());

const events = async (kind: string) => {
  const rows = await here.db<{ actor: string; data: Record<string, unknown> }[]>`
    select actor, data from events where kind = ${kind} order by id`;
  return rows.map(({ actor, data }) => ({ actor, data }));
};

/** A body that makes each kind, as an operator writes it. */
const SAMPLES: [plural: string, spec: object, shown: object][] = [
  ["organizations", {}, {}],
  ["policies", ROUTE, { ...ROUTE, organization: null, roles: [] }],
  ["policies", { ...DEGRADED, roles: ["thin"] }, { ...DEGRADED, organization: null, roles: ["thin"] }],
  [
    "policies",
    { kind: "qos", organization: "acme", body: { class: "bulk", rate_kbit_max: null } },
    { kind: "qos", organization: "acme", roles: [], body: { class: "bulk", rate_kbit_max: null } },
  ],
  [
    "secret-refs",
    { organization: "acme", ref: "secret://vault/acme/db" },
    { organization: "acme", ref: "secret://vault/acme/db" },
  ],
  [
    "services",
    { organization: "acme", nodes: ["edge-1"], resources: ["resource:db-main"] },
    {
      organization: "acme",
      chain_profile_id: null,
      resources: ["resource:db-main"],
      connectors: [],
      secret_refs: [],
      address: null,
      description: null,
      nodes: ["edge-1"],
    },
  ],
  [
    "storage-endpoints",
    { url: "https://store-1.example:8443/a" },
    { organization: null, url: "https://store-1.example:8443/a", shard: null, replicas: 1 },
  ],
];

describe("resources of the model (SNAP-3)", () => {
  test.each(SAMPLES)(
    "SNAP-3: %s are made, shown, listed, replaced as a whole and deleted",
    async (plural, spec, shown) => {
      const path = `/model/${plural}/a-${plural}`;
      expect((await ask("GET", path)).code).toBe("NOT_FOUND");
      const made = await ask("PUT", path, spec);
      expect(made).toMatchObject({ status: 201, body: { name: `a-${plural}`, spec: shown } });
      const count = (await events("model.changed")).length;
      expect(await ask("PUT", path, spec)).toMatchObject({ status: 200, body: made.body as object });
      expect(await events("model.changed")).toHaveLength(count); // asked twice, changed once
      expect((await ask("GET", path)).body).toEqual(made.body);
      const { items } = (await ask("GET", `/model/${plural}`)).body as { items: { name: string }[] };
      expect(items.map(({ name }) => name)).toContain(`a-${plural}`);
      expect((await ask("DELETE", path)).status).toBe(204);
      expect((await ask("GET", path)).code).toBe("NOT_FOUND");
      expect((await events("model.changed")).at(-1)).toMatchObject({
        actor: "key:boss",
        data: { name: `a-${plural}`, change: "deleted" },
      });
    },
  );

  test("SNAP-3: a replaced policy keeps its id, also when it becomes one of another kind", async () => {
    const first = (await ask("PUT", "/model/policies/turns", ROUTE)).body as { id: string };
    const second = (await ask("PUT", "/model/policies/turns", DEGRADED)).body as { id: string };
    expect(second).toMatchObject({ id: first.id, spec: { kind: "degraded_mode" } });
    expect(await here.db`select kind from policies where name = 'turns'`).toEqual([
      { kind: "degraded_mode" },
    ]);
  });

  test("SNAP-3: lists come in pages by name", async () => {
    for (const name of ["p3", "p1", "p2"]) await ask("PUT", `/model/policies/${name}`, ROUTE);
    const first = (await ask("GET", "/model/policies?limit=2")).body as {
      items: { name: string }[];
      next_cursor: string;
    };
    expect(first.items.map(({ name }) => name)).toEqual(["p1", "p2"]);
    const rest = (await ask("GET", `/model/policies?limit=2&cursor=${first.next_cursor}`))
      .body as typeof first;
    expect(rest.items.map(({ name }) => name)).toEqual(["p3", "turns"]);
    expect(rest.next_cursor).toBeNull();
  });

  test.each([
    [
      "policies",
      "an address that is no network",
      { ...ROUTE, body: { ...ROUTE.body, destinations: ["here.db.example"] } },
      "body.body.destinations.0",
    ],
    [
      "policies",
      "an action that is never allowed alone",
      { ...DEGRADED, body: { ...DEGRADED.body, allowed: ["issue_certificates"] } },
      "body.body.allowed.0",
    ],
    ["secret-refs", "what is no reference", { organization: "acme", ref: "hunter2" }, "body.ref"],
    ["services", "an organization that is not there", { organization: "nobody" }, "body.organization"],
    ["services", "a node that is not there", { organization: "acme", nodes: ["edge-9"] }, "body.nodes"],
    [
      "services",
      "a node of another organization",
      { organization: "other", nodes: ["edge-1"] },
      "body.nodes",
    ],
    [
      "services",
      "a secret-ref that is not there",
      { organization: "acme", secret_refs: ["nope"] },
      "body.secret_refs",
    ],
    ["storage-endpoints", "a question in an address", { url: "https://store.example/?q=1" }, "body.url"],
    ["organizations", "a field that is not there", { colour: "red" }, "body"],
  ])("SNAP-5: %s refuse %s, with the field", async (plural, _what, spec, field) => {
    const refused = await ask("PUT", `/model/${plural}/wrong`, spec);
    expect(refused.code).toBe("INVALID_INPUT");
    expect(refused.message).toMatch(new RegExp(`^${field.replaceAll(".", "\\.")}: `));
    expect((await ask("GET", `/model/${plural}/wrong`)).code).toBe("NOT_FOUND");
  });

  test.each([
    ["policies", { ...ROUTE, body: { ...ROUTE.body, description: PEM } }, "body.body.description"],
    [
      "policies",
      { ...ROUTE, body: { ...ROUTE.body, description: Buffer.from(PEM).toString("base64") } },
      "body.body.description",
    ],
    ["services", { organization: "acme", description: PEM }, "body.description"],
    ["services", { organization: "acme", password: "hunter2" }, "body.password"],
    ["secret-refs", { organization: "acme", ref: PEM }, "body.ref"],
  ])(
    "SNAP-5: a raw secret in one of the %s is SNAPSHOT_SECRET_FOUND with its field, and is not stored",
    async (plural, spec, field) => {
      const before = (await events("model.changed")).length;
      const refused = await ask("PUT", `/model/${plural}/leak`, spec);
      expect([refused.status, refused.code]).toEqual([422, "SNAPSHOT_SECRET_FOUND"]);
      expect(refused.message).toContain(`${field}: looks like`);
      expect((await ask("GET", `/model/${plural}/leak`)).code).toBe("NOT_FOUND");
      expect(await events("model.changed")).toHaveLength(before);
    },
  );

  test("SNAP-5: a body too deep to be searched is refused", async () => {
    const levels = 200_000;
    const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    expect((await ask("PUT", "/model/services/deep", deep)).code).toBe("INVALID_INPUT");
  });

  test("SNAP-20: a revoked node is shown in no service, and its organization can be deleted", async () => {
    const { nodeId } = await enrolledNode(here.db, here.site, "leaver");
    await ask("PUT", "/model/organizations/leaving", {});
    await ask("PUT", `/nodes/${nodeId}/membership`, {
      roles: ["egress_service"],
      organizations: ["leaving"],
    });
    await ask("PUT", "/model/services/left", { organization: "leaving", nodes: ["leaver"] });
    expect((await ask("DELETE", "/model/organizations/leaving")).message).toContain("node leaver");
    expect((await ask("POST", `/nodes/${nodeId}/revoke`, {})).status).toBe(200);
    // A successor under the same name is another node: it runs the service once an operator says so.
    const successor = await enrolledNode(here.db, here.site, "leaver");
    expect(successor.nodeId).not.toBe(nodeId);
    expect((await ask("GET", "/model/services/left")).body).toMatchObject({ spec: { nodes: [] } });
    await ask("DELETE", "/model/services/left");
    expect((await ask("DELETE", "/model/organizations/leaving")).status).toBe(204);
  });

  test("SNAP-4: what is in use is neither deleted nor handed to another organization, and the users are named", async () => {
    await ask("PUT", "/model/secret-refs/db", { organization: "acme", ref: "secret://vault/acme/db" });
    await ask("PUT", "/model/services/web", { organization: "acme", secret_refs: ["db"], nodes: ["edge-1"] });
    const secret = await ask("DELETE", "/model/secret-refs/db");
    expect([secret.status, secret.code]).toEqual([409, "MODEL_IN_USE"]);
    expect(secret.message).toContain("service web");
    const moved = { organization: "other", ref: "secret://vault/acme/db" };
    expect((await ask("PUT", "/model/secret-refs/db", moved)).code).toBe("MODEL_IN_USE");
    expect((await ask("DELETE", "/model/organizations/acme")).message).toContain("node edge-1");
    const left = await ask("PUT", `/nodes/${edge}/membership`, { roles: ["egress_service"] });
    expect([left.code, left.message]).toEqual(["MODEL_IN_USE", expect.stringContaining("service web")]);
    await ask("DELETE", "/model/services/web");
    expect((await ask("DELETE", "/model/secret-refs/db")).status).toBe(204);
  });
});

describe("what a node is (SNAP-4)", () => {
  test("SNAP-4: roles, organizations and peer address are set as a whole, once, with who did it", async () => {
    const wanted = {
      roles: ["core_mesh", "thin"],
      organizations: ["acme", "other"],
      peer_address: "edge-1.example:7000",
    };
    const set = await ask("PUT", `/nodes/${edge}/membership`, wanted);
    expect(set).toMatchObject({ status: 200, body: { node_name: "edge-1", ...wanted } });
    await ask("PUT", `/nodes/${edge}/membership`, { ...wanted, roles: ["thin", "core_mesh"] });
    const changes = (await events("node.membership")).filter(
      ({ data }) => data["peer_address"] === wanted.peer_address,
    );
    expect(changes).toEqual([{ actor: "key:boss", data: wanted }]);
    await ask("PUT", `/nodes/${edge}/membership`, { roles: ["egress_service"], organizations: ["acme"] });
    expect((await ask("GET", `/nodes/${edge}/membership`)).body).toMatchObject({
      peer_address: null,
      organizations: ["acme"],
    });
  });

  test("SNAP-4: an unknown role, organization or node, and an address that is none, are refused", async () => {
    const path = `/nodes/${edge}/membership`;
    expect((await ask("PUT", path, { roles: ["king"] })).message).toMatch(/^body\.roles\.0: /);
    expect((await ask("PUT", path, { organizations: ["nobody"] })).message).toMatch(/^body\.organizations: /);
    expect((await ask("PUT", path, { peer_address: "edge 1" })).message).toMatch(/^body\.peer_address: /);
    expect((await ask("PUT", `/nodes/${newId()}/membership`, {})).code).toBe("NOT_FOUND");
  });
});
