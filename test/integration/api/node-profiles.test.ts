// The programs of a node through the operators' API, on a real database.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import type { NodeView, RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { createHeartbeatStore } from "../../../src/server/agents/heartbeats.ts";
import {
  manualRequest,
  startCreationSite,
  V1,
  type CreationSite,
} from "../../support/server/creation-site.ts";
import { insertRollout } from "../../support/server/health-rows.ts";
import { newId } from "../../support/server/site.ts";

let here: CreationSite;

beforeAll(async () => {
  here = await startCreationSite();
});
afterAll(() => here.stop());

const add = (id: string, profile: string, reason?: string) =>
  here.ask("POST", `/nodes/${id}/profiles`, { chain_profile_id: profile, ...(reason && { reason }) });
const remove = (id: string, profile: string, reason?: string) =>
  here.ask("POST", `/nodes/${id}/profiles/${profile}/remove`, reason === undefined ? {} : { reason });
const codeOf = ({ body }: { body: unknown }): string => (body as { error: { code: string } }).error.code;
const profilesOf = ({ body }: { body: unknown }) => (body as NodeView).profiles;
const eventsOf = (id: NodeId) => here.db`
  select kind, actor, data from events where node_id = ${id} and kind like 'node.profile.%' order by id`;

const programReport = (profile: string, version: string) => ({
  chain_profile_id: profile,
  application_health: "ok",
  sync_status: "synced",
  running_fingerprint: V1,
  installed_fingerprint: V1,
  version,
  instance_id: null,
  started_at: null,
  restarts: 0,
});

/** Through the store of a replica that has heard of the node before. */
async function beat(store: ReturnType<typeof createHeartbeatStore>, nodeId: NodeId, profiles: string[]) {
  const heartbeat = {
    at: new Date().toISOString(),
    agent_version: "1",
    applied: {},
    programs: profiles.map((profile) => programReport(profile, "3.1.0")),
    last_rejection: null,
  };
  await store({ nodeId, digest: null, clockMs: null, read: () => heartbeat as never });
}

describe("a profile is added", () => {
  test("ROLL-28: the node shows it with its own state, and the event says who and why", async () => {
    const id = await here.addNode("two", { profile: "execution" });
    const answer = await add(id, "consensus", "a second client");
    expect([answer.status, profilesOf(answer)]).toEqual([
      200,
      [
        { chain_profile_id: "consensus", state: "active", binary_version: null },
        { chain_profile_id: "execution", state: "active", binary_version: "1.0.0" },
      ],
    ]);
    expect([...(await eventsOf(id))]).toEqual([
      {
        kind: "node.profile.added",
        actor: "key:boss",
        data: { chain_profile_id: "consensus", reason: "a second client" },
      },
    ]);
    expect((await add(id, "consensus")).status).toBe(200);
    expect(await eventsOf(id)).toHaveLength(1); // it was there: nothing happened
  });

  test("ROLL-28: a version that the node reports already is recorded at once", async () => {
    const id = await here.addNode("reports-first", { profile: "execution" });
    await beat(
      createHeartbeatStore(here.db, () => undefined),
      id,
      ["execution", "consensus"],
    );
    expect(profilesOf(await add(id, "consensus"))[0]).toMatchObject({ binary_version: "3.1.0" });
  });

  test("ROLL-28: a version that the node reports later is recorded then, and never again", async () => {
    const id = await here.addNode("reports-later", { profile: "execution" });
    const store = createHeartbeatStore(here.db, () => undefined);
    await beat(store, id, ["execution"]);
    await add(id, "consensus");
    await beat(store, id, ["execution", "consensus"]);
    const shown = async () => profilesOf(await here.ask("GET", `/nodes/${id}`));
    expect(await shown()).toMatchObject([{ binary_version: "3.1.0" }, { binary_version: "1.0.0" }]);
    await here.db`update node_config_state set binary_version = '4.0.0' where node_id = ${id}`;
    await beat(store, id, ["consensus", "execution"]);
    expect(await shown()).toMatchObject([{ binary_version: "4.0.0" }, { binary_version: "4.0.0" }]);
  });

  test("ROLL-28: an unknown node, a revoked one, a bad name and one profile too many are refused", async () => {
    expect(codeOf(await add(newId(), "consensus"))).toBe("NOT_FOUND");
    const gone = await here.addNode("gone", { profile: "execution" });
    await here.db`update nodes set revoked_at = now() where id = ${gone}`;
    expect(codeOf(await add(gone, "consensus"))).toBe("NODE_REVOKED");
    const id = await here.addNode("full", { profile: "p-0" });
    expect(codeOf(await add(id, "../x"))).toBe("INVALID_INPUT");
    for (let n = 1; n < LIMITS.nodeProfilesMax; n++) expect((await add(id, `p-${n}`)).status).toBe(200);
    expect(codeOf(await add(id, "p-last"))).toBe("INVALID_INPUT");
  });
});

describe("a profile is removed", () => {
  test("ROLL-28: its version, assignment and health go with it, and the event says who and why", async () => {
    const id = await here.addNode("leaves", { profile: "execution" });
    await here.addProgram(id, "consensus");
    await here.db`insert into profile_health (node_id, chain_profile_id) values (${id}, 'consensus')`;
    for (const profile of ["execution", "consensus"])
      await here.db`
        insert into service_assignments (node_id, chain_profile_id, kind, target_fp, rollout_id)
        values (${id}, ${profile}, 'settled', ${V1}, gen_random_uuid())`;
    for (const profile of ["execution", "consensus"]) {
      const [rollout] = await here.db<{ id: string }[]>`
        select id from rollouts where id = ${await insertRollout(here.db, { profile, status: "completed" })}`;
      await here.db`insert into unsettled_nodes (rollout_id, node_id) values (${rollout!.id}, ${id})`;
    }
    await here.db`truncate snapshot_dirty`;
    const answer = await remove(id, "consensus", "moved");
    const unsettled = await here.db`
      select r.chain_profile_id from unsettled_nodes u join rollouts r on r.id = u.rollout_id where u.node_id = ${id}`;
    expect([...unsettled]).toEqual([{ chain_profile_id: "execution" }]);
    expect(profilesOf(answer).map(({ chain_profile_id }) => chain_profile_id)).toEqual(["execution"]);
    for (const table of ["node_config_state", "service_assignments"])
      expect([
        ...(await here.db`select chain_profile_id from ${here.db(table)} where node_id = ${id}`),
      ]).toEqual([{ chain_profile_id: "execution" }]);
    expect(await here.db`select 1 from profile_health where node_id = ${id}`).toHaveLength(0);
    expect([...(await here.db`select scope_type from snapshot_dirty where node_id = ${id}`)]).toEqual([
      { scope_type: "service_assignment" },
    ]);
    expect((await eventsOf(id)).at(-1)).toEqual({
      kind: "node.profile.removed",
      actor: "key:boss",
      data: { chain_profile_id: "consensus", reason: "moved" },
    });
  });

  test("ROLL-28: the only profile, one the node has not, and an unknown node are refused", async () => {
    const id = await here.addNode("single", { profile: "execution" });
    expect(codeOf(await remove(id, "execution"))).toBe("ILLEGAL_TRANSITION");
    expect(codeOf(await remove(id, "consensus"))).toBe("NOT_FOUND");
    expect(codeOf(await remove(newId(), "execution"))).toBe("NOT_FOUND");
  });

  test("ROLL-28: a profile with an active rollout on the node is refused; its neighbour is not", async () => {
    const id = await here.addNode("at-work", { profile: "active-one" });
    await here.addProgram(id, "beside");
    await here.addProgram(id, "third");
    const created = await here.ask("POST", "/rollouts", manualRequest({ chain_profile_id: "active-one" }));
    expect(created.status).toBe(201);
    const refused = await remove(id, "active-one");
    expect([refused.status, codeOf(refused)]).toEqual([409, "ROLLOUT_ACTIVE"]);
    expect((await remove(id, "beside")).status).toBe(200);
    await here.complete((created.body as RolloutView).id);
    expect((await remove(id, "active-one")).status).toBe(200);
  });

  test("ROLL-28: a node that left a profile is in no later rollout of it", async () => {
    const [stays, leaves] = [
      await here.addNode("stays", { profile: "shrinking" }),
      await here.addNode("leaves-it", { profile: "shrinking" }),
    ];
    await here.addProgram(leaves, "beside");
    await remove(leaves, "shrinking");
    const listed = await here.ask("GET", "/nodes?chain_profile_id=shrinking&limit=10");
    expect((listed.body as { nodes: NodeView[] }).nodes.map(({ id }) => id)).toEqual([stays]);
    const created = await here.ask("POST", "/rollouts", manualRequest({ chain_profile_id: "shrinking" }));
    expect((created.body as RolloutView).counters.total).toBe(1);
  });
});

describe("an enrollment token", () => {
  const token = (body: object) => here.ask("POST", "/enrollment-tokens", { node_type: "edge", ...body });

  test("ROLL-28: it names several profiles, and a later one for the same name replaces them", async () => {
    const first = await token({ name: "new", chain_profile_ids: ["execution", "consensus"] });
    const { node_id: id } = first.body as { node_id: string };
    const shown = async () =>
      profilesOf(await here.ask("GET", `/nodes/${id}`)).map(({ chain_profile_id }) => chain_profile_id);
    expect(await shown()).toEqual(["consensus", "execution"]);
    expect((await token({ name: "new", chain_profile_ids: ["execution", "relay"] })).status).toBe(201);
    expect(await shown()).toEqual(["execution", "relay"]);
  });

  test("ROLL-28: none, the same twice, or too many are refused", async () => {
    const many = Array.from({ length: LIMITS.nodeProfilesMax + 1 }, (_, n) => `p-${n}`);
    for (const chain_profile_ids of [[], ["a", "a"], many])
      expect(codeOf(await token({ name: "bad", chain_profile_ids }))).toBe("INVALID_INPUT");
  });
});

describe("lists", () => {
  test("ROLL-28: a filter by profile and version looks at one program, not at its neighbour", async () => {
    const id = await here.addNode("mixed", { profile: "left", version: "1.0.0" });
    await here.addProgram(id, "right", "2.0.0");
    const found = async (query: string) => {
      const { body } = await here.ask("GET", `/nodes?${query}&limit=50`);
      return (body as { nodes: NodeView[] }).nodes.map(({ name }) => name);
    };
    expect(await found("chain_profile_id=left&binary_version=1.0.0")).toEqual(["mixed"]);
    expect(await found("chain_profile_id=left&binary_version=2.0.0")).toEqual([]);
    expect(await found("chain_profile_id=right")).toEqual(["mixed"]);
  });
});
