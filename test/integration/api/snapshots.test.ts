// What was published for nodes, against what they say they hold, through the operators' API on a real database.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import type { AppliedVersions, Rejection } from "../../../src/core/protocol/agent-api.ts";
import { NodeAuthorityList, NodeSnapshots, SnapshotDetail } from "../../../src/core/protocol/snapshot-api.ts";
import type { CompiledScope } from "../../../src/core/snapshot/roles.ts";
import type { ScopeType } from "../../../src/core/snapshot/scopes.ts";
import { publishSnapshots } from "../../../src/server/snapshots/publish.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { administrator, type Ask } from "../../support/server/operators-client.ts";
import { startOperatorsSite, type OperatorsSite } from "../../support/server/operators-site.ts";
import { enrolledNode, newId } from "../../support/server/site.ts";

const HOUR_MS = 3_600_000;
const SHARED = { trust_bundle: { epoch: 1, version: 1 } };

let here: OperatorsSite;
let ask: Ask;
let node: NodeId;
let count = 0;
let ahead = 0;

beforeAll(async () => {
  here = await startOperatorsSite({
    clock: { now: () => Date.now() + ahead, monotonic: () => performance.now() },
  });
  ask = await administrator(here.app, here.db);
});
beforeEach(async () => {
  ahead = 0;
  await here.db`update nodes set revoked_at = now() where name like 'edge-%'`;
  node = (await enrolledNode(here.db, here.site, `edge-${++count}`)).nodeId;
});
afterAll(() => here.stop());

const publish = async (scope: CompiledScope, content: Json) =>
  here.db.begin(async (tx) => {
    const authority = { clusterId: here.site.clusterId, signers: () => [here.site.online] as const };
    return publishSnapshots(tx, authority, [{ nodeId: node, scope, content }], Date.now());
  });

const beat = (applied: AppliedVersions, rejection: Rejection | null = null) => here.db`
  insert into node_heartbeats (node_id, received_at, agent_version, applied, programs, last_rejection)
  values (${node}, now(), '1', ${here.db.json({ ...SHARED, ...applied })}, '[]', ${rejection === null ? null : here.db.json(rejection)})
  on conflict (node_id) do update set applied = excluded.applied, last_rejection = excluded.last_rejection`;

const route = (destination: string) => ({
  routes: [
    {
      policy_id: newId(),
      name: "out",
      organization_id: null,
      destinations: [destination],
      via: "mesh",
      ttl_ms: 1000,
    },
  ],
});

const views = async (): Promise<NodeSnapshots> =>
  NodeSnapshots.parse((await ask("GET", `/nodes/${node}/snapshots`)).body);
const viewOf = async (scope: ScopeType) => (await views()).snapshots.find((view) => view.scope === scope)!;
const stateOf = async (scope: ScopeType) => (await viewOf(scope)).state;

const rejectionOf = (version: number): Rejection => ({
  code: "SNAPSHOT_SIGNATURE_INVALID",
  subject: "route_policy",
  reason: "0 valid signatures of 1 needed",
  at: new Date().toISOString(),
  scope: "route_policy",
  step: 5,
  field: "signature",
  version: { epoch: 1, version },
});

describe("how a node stands (SNAP-13)", () => {
  test("SNAP-13: a node shows the scopes of its roles and the shared bundle, published or not", async () => {
    const { snapshots, roles, node_name } = await views();
    expect([node_name, roles]).toEqual([`edge-${count}`, ["egress_service"]]);
    const never = Object.fromEntries(snapshots.map(({ scope, state }) => [scope, state]));
    expect(never).toMatchObject({
      trust_bundle: "never",
      route_policy: "never",
      degraded_mode_policy: "never",
    });
    expect(never).not.toHaveProperty("qos_policy");
    expect(snapshots.find(({ scope }) => scope === "trust_bundle")!.published).toMatchObject({
      epoch: 1,
      version: 1,
    });
  });

  test("SNAP-13: the newest heartbeat decides between in force, behind and the way it was refused", async () => {
    await publish("route_policy", route("10.0.0.0/8"));
    expect(await stateOf("route_policy")).toBe("never");
    await beat({ route_policy: { epoch: 1, version: 1 } });
    expect(await viewOf("route_policy")).toMatchObject({
      state: "in_force",
      applied: { version: 1 },
      rejection: null,
    });
    await publish("route_policy", route("10.0.0.0/9"));
    expect(await stateOf("route_policy")).toBe("behind");
    await beat({ route_policy: { epoch: 1, version: 1 } }, rejectionOf(2));
    expect(await viewOf("route_policy")).toMatchObject({
      state: "rejected",
      published: { version: 2, signer_key_id: here.site.online.record.key_id },
      applied: { version: 1 },
      rejection: {
        step: 5,
        check: "the signatures verify",
        field: "signature",
        code: "SNAPSHOT_SIGNATURE_INVALID",
        remedy: ERROR_CODES.SNAPSHOT_SIGNATURE_INVALID.next,
      },
    });
    expect(await stateOf("degraded_mode_policy")).toBe("never"); // a rejection speaks of its own scope only
    await publish("route_policy", route("10.0.0.0/10"));
    expect(await stateOf("route_policy")).toBe("behind"); // a newer one may be taken
    await beat({ route_policy: { epoch: 1, version: 3 } }, rejectionOf(2));
    expect(await stateOf("route_policy")).toBe("in_force");
  });

  test("SNAP-13: what the compiler would not sign says so, with its field and what to do", async () => {
    await publish("route_policy", route("10.0.0.0/8"));
    await beat({ route_policy: { epoch: 1, version: 1 } });
    await here.db`
      insert into snapshot_refusals (node_id, scope_type, code, path, message, at)
      values (${node}, 'route_policy', 'SNAPSHOT_SECRET_FOUND', 'content.routes.0.description', 'looks like a key', now())`;
    expect(await viewOf("route_policy")).toMatchObject({
      state: "refused_by_compiler",
      refusal: { field: "content.routes.0.description", remedy: ERROR_CODES.SNAPSHOT_SECRET_FOUND.next },
    });
  });

  test("SNAP-13: past refresh_after it is expiring, past expires_at expired, also when something newer waits", async () => {
    await publish("route_policy", route("10.0.0.0/8"));
    await beat({ route_policy: { epoch: 1, version: 1 } });
    ahead = 5 * 24 * HOUR_MS;
    expect(await stateOf("route_policy")).toBe("expiring");
    ahead = 8 * 24 * HOUR_MS;
    expect(await stateOf("route_policy")).toBe("expired");
    await publish("route_policy", route("10.0.0.0/9"));
    expect(await viewOf("route_policy")).toMatchObject({ state: "expired", applied: { version: 1 } });
    const list = NodeAuthorityList.parse((await ask("GET", "/snapshots")).body);
    expect(list.nodes).toMatchObject([{ counts: { expired: 1, behind: 0 } }]);
  });

  test("SNAP-13: the fleet's list counts states by node, and shows on demand only nodes that want a look", async () => {
    await publish("route_policy", route("10.0.0.0/8"));
    await beat({ route_policy: { epoch: 1, version: 1 } });
    const list = async (query: string) =>
      NodeAuthorityList.parse((await ask("GET", `/snapshots?${query}`)).body).nodes;
    expect(await list("")).toMatchObject([
      { node_name: `edge-${count}`, counts: { in_force: 2 }, attention: [] },
    ]);
    expect(await list("attention=true")).toEqual([]);
    await publish("route_policy", route("10.0.0.0/9"));
    await beat({ route_policy: { epoch: 1, version: 1 } }, rejectionOf(2));
    expect(await list("attention=true")).toMatchObject([
      {
        counts: { in_force: 1, rejected: 1 },
        attention: [{ scope: "route_policy", state: "rejected", code: "SNAPSHOT_SIGNATURE_INVALID" }],
      },
    ]);
  });
});

test("SNAP-13: a header that somebody damaged in the database does not hide the node's state", async () => {
  await publish("route_policy", route("10.0.0.0/8"));
  await publish("route_policy", route("10.0.0.0/9"));
  await beat({ route_policy: { epoch: 1, version: 1 } });
  await here.db`update snapshots set header = 'x' where node_id = ${node}`;
  await here.db`update snapshot_history set header = 'x' where node_id = ${node}`;
  expect(await viewOf("route_policy")).toMatchObject({ state: "behind", published: { version: 2 } });
});

describe("one snapshot (SNAP-1)", () => {
  test("SNAP-1: header, content and the signed bytes are shown, the newest unless an earlier one is asked for", async () => {
    await publish("route_policy", route("10.0.0.0/8"));
    await publish("route_policy", route("10.0.0.0/9"));
    const read = async (query = "") =>
      SnapshotDetail.parse((await ask("GET", `/nodes/${node}/snapshots/route_policy${query}`)).body);
    const newest = await read();
    expect(newest.header).toMatchObject({
      config_version: 2,
      subject_node_id: node,
      scope_type: "route_policy",
    });
    expect(newest.versions).toEqual([2, 1].map((version) => ({ epoch: 1, version })));
    const frame = decodeFrame(Buffer.from(newest.frame, "base64"));
    expect(JSON.parse(frame.header.toString())).toEqual(newest.header);
    expect(JSON.parse(frame.content.toString())).toEqual(newest.content);
    const { published } = await viewOf("route_policy");
    expect(published!.bytes).toBe(Buffer.from(newest.frame, "base64").length);
    expect((await read("?version=1")).content).toMatchObject({ routes: [{ destinations: ["10.0.0.0/8"] }] });
    const gone = await ask("GET", `/nodes/${node}/snapshots/route_policy?version=9`);
    expect([gone.code, gone.message]).toEqual(["NOT_FOUND", expect.stringContaining("version 9")]);
  });

  test("SNAP-1: the trust bundle is among them; an unknown scope, node or version is refused", async () => {
    const bundle = await ask("GET", `/nodes/${node}/snapshots/trust_bundle`);
    expect(SnapshotDetail.parse(bundle.body).header).toMatchObject({
      subject_node_id: "shared",
      scope_type: "trust_bundle",
    });
    expect((await ask("GET", `/nodes/${node}/snapshots/everything`)).message).toMatch(/^params\.scope: /);
    expect((await ask("GET", `/nodes/${node}/snapshots/route_policy?version=x`)).message).toMatch(
      /^querystring\.version: /,
    );
    expect((await ask("GET", `/nodes/${node}/snapshots/route_policy`)).code).toBe("NOT_FOUND");
    expect((await ask("GET", `/nodes/${newId()}/snapshots`)).code).toBe("NOT_FOUND");
    expect((await ask("GET", `/nodes/${newId()}/snapshots/trust_bundle`)).code).toBe("NOT_FOUND");
  });
});
