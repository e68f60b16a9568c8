// Rollouts of two programs on the same nodes (ROLL-28), step by step on a real database.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { RolloutId, type NodeId } from "../../../src/core/ids.ts";
import type { NodeView, RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { manualRequest, V1, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
let count = 0;
let [execution, consensus] = ["", ""];
let nodes: NodeId[];

beforeAll(async () => {
  here = await startDrivenSite();
});
afterAll(() => here.stop());
beforeEach(async () => {
  count += 1;
  [execution, consensus] = [`execution-${count}`, `consensus-${count}`];
  nodes = [];
  for (const name of ["a", "b"]) {
    const node = await here.addNode(`${count}-${name}`, { profile: execution, labels: { zone: "west" } });
    await here.addProgram(node, consensus);
    nodes.push(node);
  }
});

const create = async (profile: string, changes: object = {}): Promise<string> => {
  const answer = await here.ask(
    "POST",
    "/rollouts",
    manualRequest({ chain_profile_id: profile, ...changes }),
  );
  expect([answer.status, answer.body]).toMatchObject([201, {}]);
  return (answer.body as RolloutView).id;
};
const ask = (id: string, verb: string) => here.ask("POST", `/rollouts/${id}/${verb}`, {});
const view = async (id: string) => (await here.ask("GET", `/rollouts/${id}`)).body as RolloutView;
const start = async (profile: string, changes: object = {}): Promise<string> => {
  const id = await create(profile, { health_wait_seconds: 0, ...changes });
  expect((await ask(id, "start")).status).toBe(202);
  await here.settle();
  return id;
};
const shown = async (node: NodeId) => (await here.ask("GET", `/nodes/${node}`)).body as NodeView;
/** `[consensus, execution]` of the first node. */
const states = async () => (await shown(nodes[0]!)).profiles.map(({ state }) => state);
const recorded = async () =>
  here.db<{ profile: string; fingerprint: string }[]>`
    select chain_profile_id as profile, fingerprint from node_config_state
    where node_id = ${nodes[0]!} order by 1`;
const assignments = async () =>
  here.db<{ profile: string; kind: string }[]>`
    select chain_profile_id as profile, kind from service_assignments where node_id = ${nodes[0]!} order by 1`;

describe("both at work", () => {
  test("ROLL-28: each rollout has its own maintenance, assignment and version, and one sequence numbers both", async () => {
    const first = await start(execution);
    expect(await states()).toEqual(["active", "maintenance"]);
    expect((await shown(nodes[0]!)).state).toBe("maintenance");
    const second = await start(consensus);
    expect(await states()).toEqual(["maintenance", "maintenance"]);
    const sequences = await here.db<{ sequence: number; rollout_id: string }[]>`
      select sequence, rollout_id from commands where node_id = ${nodes[0]!} order by sequence`;
    expect([...sequences]).toEqual([
      { sequence: 1, rollout_id: first },
      { sequence: 2, rollout_id: second },
    ]);

    await here.report(first);
    expect((await view(first)).status).toBe("completed");
    expect(await states()).toEqual(["maintenance", "active"]);
    expect([...(await recorded())]).toEqual([
      { profile: consensus, fingerprint: V1 },
      { profile: execution, fingerprint: V2 },
    ]);
    expect([...(await assignments())]).toEqual([
      { profile: consensus, kind: "upgrading" },
      { profile: execution, kind: "settled" },
    ]);

    await here.report(second);
    expect((await view(second)).status).toBe("completed");
    expect(await states()).toEqual(["active", "active"]);
    expect((await shown(nodes[0]!)).state).toBe("active");
  });

  test("ROLL-28: a program that could not be taken back is degraded, its neighbour stays active", async () => {
    const id = await start(execution);
    await here.report(id, "FAILED_ROLLBACK");
    expect(await states()).toEqual(["active", "degraded"]);
    expect((await shown(nodes[0]!)).state).toBe("degraded");
  });

  test("ROLL-28: a rollback of one program leaves the other where it is", async () => {
    const first = await start(execution);
    await here.report(first);
    const second = await start(consensus);
    await here.report(second);
    expect((await ask(first, "rollback")).status).toBe(202);
    await here.settle();
    expect(await states()).toEqual(["active", "maintenance"]);
    await here.report(first);
    expect((await view(first)).status).toBe("rolled_back");
    expect([...(await recorded())]).toEqual([
      { profile: consensus, fingerprint: V2 },
      { profile: execution, fingerprint: V1 },
    ]);
  });

  test("ROLL-28: the health of one program is not judged by its neighbour's report", async () => {
    const first = await start(execution, { health_wait_seconds: 0 });
    const report = { chain_profile_id: consensus, application_health: "critical" };
    await here.report(first, "COMPLETED", report); // a heartbeat that knows only the neighbour
    expect((await here.statusesOf(first)).every((status) => status !== "succeeded")).toBe(true);
  });
});

describe("nodes that left the profile", () => {
  test("ROLL-28: a late rollback goes back without them, and ends", async () => {
    const id = await start(execution);
    await here.report(id);
    const left = await here.ask("POST", `/nodes/${nodes[1]!}/profiles/${execution}/remove`, {});
    expect(left.status).toBe(200);
    expect((await ask(id, "rollback")).status).toBe(202);
    await here.settle();
    const commands = await here.db`
      select 1 from commands where rollout_id = ${id} and node_id = ${nodes[1]!}`;
    expect(commands).toHaveLength(1); // the forward one
    await here.report(id);
    expect(await view(id)).toMatchObject({ status: "rolled_back", counters: { rolled_back: 1 } });
  });
});

describe("the limit of unavailable nodes", () => {
  const LIMIT = { max_unavailable: { label: "zone", count: 1 }, batch_size: 1 };

  test("ROLL-28: a node in maintenance for another program counts as away, and is waited for", async () => {
    const other = await here.addNode(`${count}-c`, { profile: execution, labels: { zone: "west" } });
    await here.addProgram(other, `third-${count}`);
    const third = await start(`third-${count}`);
    const id = await start(execution, { ...LIMIT, node_ids: nodes });
    expect(await view(id)).toMatchObject({
      status: "running",
      counters: { in_progress: 0 },
      why: { code: "OTHERS_AT_WORK" },
    });
    await here.report(third);
    expect(await view(id)).toMatchObject({ status: "running", counters: { in_progress: 1 } });
  });

  test("ROLL-28: of two rollouts with a limit that open at once, one waits", async () => {
    // Of different nodes of one zone, which both profiles have.
    const created = await Promise.all([
      create(execution, { ...LIMIT, health_wait_seconds: 0, node_ids: [nodes[0]] }),
      create(consensus, { ...LIMIT, health_wait_seconds: 0, node_ids: [nodes[1]] }),
    ]);
    for (const id of created) await ask(id, "start");
    await Promise.all(Array.from({ length: 6 }, () => here.db`select pg_sleep(0.05)`)); // connections are open
    await Promise.all(created.map((id) => here.step(RolloutId.parse(id))));
    const atWork = (await Promise.all(created.map(view))).map(({ counters }) => counters.in_progress);
    expect(atWork.toSorted((a, b) => a - b)).toEqual([0, 1]);
    await here.settle();
    for (let round = 0; round < 2; round++) for (const id of created) await here.report(id);
    for (const id of created) expect((await view(id)).status).toBe("completed");
  });

  test("ROLL-28: a node in maintenance for another program is not away twice when it is the batch's own", async () => {
    const only = await here.addNode(`${count}-own`, { profile: `own-${count}`, labels: { zone: "north" } });
    await here.addProgram(only, `beside-${count}`);
    await start(`beside-${count}`);
    const id = await start(`own-${count}`, LIMIT);
    expect(await view(id)).toMatchObject({ status: "running", counters: { in_progress: 1 } });
  });

  test.each(["degraded", "failed"])(
    "ROLL-28: a node whose other program is %s counts as away",
    async (state) => {
      const other = await here.addNode(`${count}-c`, { profile: execution, labels: { zone: "west" } });
      await here.addProgram(other, consensus);
      await here.db`
      update node_profiles set state = ${state} where node_id = ${other} and chain_profile_id = ${consensus}`;
      const id = await start(execution, { ...LIMIT, node_ids: nodes });
      expect(await view(id)).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
      await here.db`update node_profiles set state = 'active' where node_id = ${other}`;
      await ask(id, "resume");
      await here.settle();
      expect(await view(id)).toMatchObject({ status: "running", counters: { in_progress: 1 } });
    },
  );
});
