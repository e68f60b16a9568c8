// Which change of the model touches whose snapshots: exactly those, and nobody else's.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import { COMPILED_SCOPES, mayHold, SECTIONS, scopesOf } from "../../../src/core/snapshot/roles.ts";
import { NODE_ROLES } from "../../../src/core/snapshot/scopes.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { createFleet, type Fleet } from "./fleet.ts";

let databases: TestDatabases;
let fleet: Fleet;
let [acme, umbrella] = ["", ""];
let [core, farCore, storage, egress, ingress, thin] = [] as unknown as NodeId[] as [
  NodeId,
  NodeId,
  NodeId,
  NodeId,
  NodeId,
  NodeId,
];

beforeAll(async () => {
  databases = await startTestDatabases();
  fleet = await createFleet((await databases.fresh()).db);
  acme = await fleet.organization("acme");
  umbrella = await fleet.organization("umbrella");
  core = await fleet.node(["core_mesh"], { organizations: [acme], address: "core.example:7000" });
  farCore = await fleet.node(["core_mesh"], { organizations: [umbrella], address: "far.example:7000" });
  storage = await fleet.node(["storage_config"], { organizations: [acme], address: "store.example:7000" });
  egress = await fleet.node(["egress_service"], { organizations: [acme] });
  ingress = await fleet.node(["ingress"], { organizations: [acme] });
  thin = await fleet.node(["thin"], { organizations: [umbrella] });
  await fleet
    .node(["core_mesh"], {})
    .then((id) => fleet.db`update nodes set revoked_at = now() where id = ${id}`);
});
afterAll(async () => databases.stop());
beforeEach(async () => void (await fleet.db`truncate snapshot_dirty`));

describe("the table of sections", () => {
  test("SNAP-4: is the same in the database and in the code", async () => {
    const rows = await fleet.db<{ scope_type: string; section: string; roles: string[] }[]>`
      select scope_type, section, roles from snapshot_sections`;
    const inCode = COMPILED_SCOPES.flatMap((scope) =>
      Object.keys(SECTIONS[scope]).map((section) => ({
        scope_type: scope,
        section,
        roles: mayHold(scope, section, [])
          ? []
          : NODE_ROLES.filter((role) => mayHold(scope, section, [role])).toSorted(),
      })),
    );
    const inDatabase = rows.map((row) => ({ ...row, roles: row.roles.toSorted() }));
    expect(new Set(inDatabase.map((row) => JSON.stringify(row)))).toEqual(
      new Set(inCode.map((row) => JSON.stringify(row))),
    );
  });
});

describe("a policy", () => {
  test("SNAP-3: of no organization and no role marks every node that may hold it, and no other", async () => {
    await fleet.route("everyone");
    expect(await fleet.marked()).toEqual(fleet.of("route_policy", core, farCore, egress, ingress));
  });

  test("SNAP-3: of one organization and role marks only those, also when it changes or goes", async () => {
    const id = await fleet.route("acme-in", acme, ["ingress"]);
    expect(await fleet.marked()).toEqual(fleet.of("route_policy", ingress));
    await fleet.db`truncate snapshot_dirty`;
    await fleet.db`update policies set organization_id = ${umbrella}, roles = '{}' where id = ${id}`;
    expect(await fleet.marked()).toEqual(fleet.of("route_policy", ingress, farCore));
    await fleet.db`truncate snapshot_dirty`;
    await fleet.db`delete from policies where id = ${id}`;
    expect(await fleet.marked()).toEqual(fleet.of("route_policy", farCore));
  });

  test("SNAP-3: that is written again as it was marks nobody", async () => {
    await fleet.db`update policies set updated_at = now(), name = name`;
    expect(await fleet.marked()).toEqual([]);
  });
});

describe("services and secrets", () => {
  test("SNAP-3: mark the nodes that run them, and the entries of their organization when their address changes", async () => {
    const { db } = fleet;
    const [service] = await db<{ id: string }[]>`
      insert into services (name, organization_id, secrets) values ('db', ${acme}, '{db-key}') returning id`;
    expect(await fleet.marked()).toEqual([]);
    await db`insert into service_nodes (service_id, node_id) values (${service!.id}, ${egress})`;
    expect(await fleet.marked()).toEqual(fleet.of("node_runtime", egress));
    await db`truncate snapshot_dirty`;
    await db`update services set address = 'db.example:5432' where id = ${service!.id}`;
    expect(await fleet.marked()).toEqual(fleet.of("node_runtime", ingress));
    await db`truncate snapshot_dirty`;
    await db`update services set description = 'the main one' where id = ${service!.id}`;
    expect(await fleet.marked()).toEqual(fleet.of("node_runtime", egress));
    await db`truncate snapshot_dirty`;
    await db`insert into secret_refs (name, organization_id, ref) values ('db-key', ${acme}, 'secret://vault/db')`;
    await db`insert into secret_refs (name, organization_id, ref) values ('other', ${acme}, 'secret://vault/other')`;
    expect(await fleet.marked()).toEqual(fleet.of("node_runtime", egress));
  });
});

test("SNAP-3: a storage endpoint marks the readers of its directory; its shard only those that keep shards", async () => {
  const { db } = fleet;
  await db`insert into storage_endpoints (name, organization_id, url) values ('s1', ${acme}, 'https://s1.example')`;
  expect(await fleet.marked()).toEqual(fleet.of("storage_directory", core, storage));
  await db`truncate snapshot_dirty`;
  await db`update storage_endpoints set shard = 'a', replicas = 2`;
  expect(await fleet.marked()).toEqual(fleet.of("storage_directory", storage));
});

test("SNAP-3: a peer's address marks the directories that list it, and the few nodes that begin with it", async () => {
  await fleet.db`update peer_addresses set address = 'store.example:7001' where node_id = ${storage}`;
  expect(await fleet.marked()).toEqual(fleet.of("peer_directory", core, storage));
  await fleet.db`truncate snapshot_dirty`;
  await fleet.db`update peer_addresses set address = 'far.example:7001' where node_id = ${farCore}`;
  expect((await fleet.marked()).filter((mark) => mark.endsWith("peer_directory"))).toEqual(
    fleet.of("peer_directory", core, farCore, storage),
  );
});

test("SNAP-3: of many core peers, a changed one marks only the nodes just before it in the ring", async () => {
  const { db } = fleet;
  await db
    .begin(async (tx) => {
      await tx`
      insert into nodes (id, name, node_type, roles, enrolled_at)
      select ('00000000-0000-4000-8000-0000000000' || lpad(n::text, 2, '0'))::uuid, 'ring-' || n, 'edge',
        case when n % 2 = 0 then '{core_mesh}'::text[] else '{thin}' end, now() from generate_series(10, 49) n`;
      await tx`insert into peer_addresses (node_id, address)
      select id, name || '.example:7000' from nodes where name like 'ring-%' and 'core_mesh' = any(roles)`;
      await tx`truncate snapshot_dirty`;
      await tx`update peer_addresses set address = 'moved.example:7000'
      where node_id = '00000000-0000-4000-8000-000000000030'`;
      const rows = await tx<{ name: string }[]>`
      select n.name from snapshot_dirty d join nodes n on n.id = d.node_id
      where d.scope_type = 'node_bootstrap' order by 1`;
      expect(rows.map((row) => row.name)).toEqual([24, 25, 26, 27, 28, 29].map((n) => `ring-${n}`));
      throw new Error("undo");
    })
    .catch((error: Error) => expect(error.message).toBe("undo"));
});

describe("a node", () => {
  const whole = (id: NodeId, roles: Parameters<typeof scopesOf>[0]) =>
    scopesOf(roles).map((scope) => `${id} ${scope}`);

  test("SNAP-3: that enrolls is marked whole; one that nobody knows as a peer marks nobody else", async () => {
    const id = await fleet.node(["thin"]);
    expect(await fleet.marked()).toEqual(whole(id, ["thin"]).toSorted());
    await fleet.db`truncate snapshot_dirty`;
    await fleet.db`update nodes set revoked_at = now() where id = ${id}`;
    expect(await fleet.marked()).toEqual([]);
  });

  test("SNAP-3: that changes its organization is marked whole, with the directories of that organization", async () => {
    await fleet.db`delete from memberships where node_id = ${storage}`;
    expect(await fleet.marked()).toEqual(
      [...whole(storage, ["storage_config"]), `${core} peer_directory`].toSorted(),
    );
    await fleet.db`insert into memberships (node_id, organization_id) values (${storage}, ${acme})`;
  });

  test("SNAP-13: that a rollout or a command touches marks nothing", async () => {
    await fleet.db`update nodes set state = 'degraded', command_sequence = command_sequence + 1`;
    await fleet.db`update nodes set state = 'active'`;
    expect(await fleet.marked()).toEqual([]);
  });
});

describe("what is revoked", () => {
  test("SNAP-10: a degraded permission of one node marks its policy alone; of everyone, everyone's", async () => {
    const revoke = (node: NodeId | null) => fleet.db`
      insert into authority_revocations (kind, subject, node_id, actor)
      values ('degraded_permission', 'continue_services', ${node}, 'test')`;
    await revoke(thin);
    expect(await fleet.marked()).toEqual(fleet.of("degraded_mode_policy", thin));
    await fleet.db`truncate snapshot_dirty`;
    await revoke(null);
    expect(await fleet.marked()).toContain(`${core} degraded_mode_policy`);
    await fleet.db`delete from authority_revocations`;
  });

  test("SNAP-10: a role marks its node whole and those that knew it by that role", async () => {
    await fleet.db`
      insert into authority_revocations (kind, subject, node_id, actor)
      values ('role_assignment', 'storage_config', ${storage}, 'test')`;
    expect(await fleet.marked()).toEqual(
      [
        ...scopesOf(["storage_config"]).map((scope) => `${storage} ${scope}`),
        `${core} peer_directory`,
      ].toSorted(),
    );
    await fleet.db`delete from authority_revocations`;
  });
});

test("SNAP-3: the cluster's name marks what every node is told of its cluster, its epoch nothing", async () => {
  await fleet.db`update clusters set epoch = epoch`;
  expect(await fleet.marked()).toEqual([]);
  await fleet.db`update clusters set name = 'north'`;
  const marks = await fleet.marked();
  expect(marks.every((mark) => mark.endsWith(" node_bootstrap"))).toBe(true);
  expect(marks).toContain(`${thin} node_bootstrap`);
});
