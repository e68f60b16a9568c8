// Nodes at work that do not answer (ROLL-30), on a real database: shown, told, given up, and never signed for once revoked.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { NodeUpgradeView, RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { watchSilence } from "../../../src/server/rollout/silence.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

let here: DrivenSite;
let profile: string;
let nodes: NodeId[];
let count = 0;

beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());
beforeEach(async () => {
  profile = `silence-${++count}`;
  nodes = [];
  for (const n of [1, 2, 3, 4]) nodes.push(await here.addNode(`${profile}-${n}`, { profile }));
});

const view = async (id: string) => (await here.ask("GET", `/rollouts/${id}`)).body as RolloutView;
const upgrades = async (id: string) =>
  ((await here.ask("GET", `/rollouts/${id}/nodes`)).body as { nodes: NodeUpgradeView[] }).nodes;
const ask = (id: string, verb: string, body: object = {}) =>
  here.ask("POST", `/rollouts/${id}/${verb}`, body);

async function begun(changes: object = {}): Promise<string> {
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0, ...changes });
  const answer = await here.ask("POST", "/rollouts", request);
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  const { id } = answer.body as RolloutView;
  await ask(id, "start");
  await here.settle();
  return id;
}

const launchOf = async (id: string): Promise<number> => {
  const [row] = await here.db<{ at: Date }[]>`
    select max(launched_at) as at from rollout_nodes where rollout_id = ${id}`;
  return row!.at.getTime();
};
/** As if the health loop had looked all the time until then. */
async function listen(at: number, most?: number): Promise<number | null> {
  await here.db`
    insert into health_watch (last_look_at, hearing_since) values (${new Date(at)}, '2020-01-01')
    on conflict (only_one) do update set last_look_at = excluded.last_look_at, hearing_since = excluded.hearing_since`;
  return watchSilence(here.db, at, most);
}
const eventsOf = async (id: string, kind: string) =>
  here.db<{ node_id: NodeId; data: { reason?: string } }[]>`
    select node_id, data from events where rollout_id = ${id} and kind = ${kind} order by id`;

describe("a node at work without a heartbeat", () => {
  test("ROLL-30: for 30 seconds is silent in the API, with an event, until it is heard again", async () => {
    const id = await begun();
    const at = await launchOf(id);
    await listen(at + 29 * SECOND);
    expect(await view(id)).toMatchObject({ silent_nodes: 0 });
    await listen(at + 31 * SECOND);
    expect(await view(id)).toMatchObject({ silent_nodes: 2, why: { code: "UPGRADING" } });
    expect((await view(id)).why!.text).toContain(`fairlead rollout give-up ${id.slice(0, 8)} --all-silent`);
    const silent = (await upgrades(id)).filter(({ silent_since }) => silent_since !== null);
    expect(silent.map(({ status }) => status)).toEqual(["in_progress", "in_progress"]);
    expect(await eventsOf(id, "node.silent")).toMatchObject([
      { data: { reason: "no heartbeat for 31 s" } },
      { data: { reason: "no heartbeat for 31 s" } },
    ]);
    await listen(at + 32 * SECOND);
    expect(await eventsOf(id, "node.silent")).toHaveLength(2); // told once
    await here.beat(id, at + 33 * SECOND);
    await here.db`update node_heartbeats set received_at = ${new Date(at + 33 * SECOND)} where node_id = any(${nodes})`;
    await listen(at + 34 * SECOND);
    expect(await view(id)).toMatchObject({ silent_nodes: 0 });
    expect(await eventsOf(id, "node.heard")).toHaveLength(2);
    await ask(id, "cancel");
  });

  test("ROLL-30: for 30 seconds is not silent once it is installed and beats every 30, and is after 90", async () => {
    const id = await begun({ node_silence_max: 20 });
    const at = await launchOf(id);
    await here.db`update rollout_nodes set upgrade_phase = 'VERIFYING' where rollout_id = ${id} and status = 'in_progress'`;
    await listen(at + 89 * SECOND);
    expect(await view(id)).toMatchObject({ silent_nodes: 0 });
    await listen(at + 91 * SECOND);
    expect(await view(id)).toMatchObject({ silent_nodes: 2, counters: { failed: 0 } });
    expect(await eventsOf(id, "node.silent")).toHaveLength(2);
    await ask(id, "cancel");
  });

  test("ROLL-30: for node_silence_max is given up by itself, with NODE_SILENT, and the rollout goes on", async () => {
    const id = await begun({ failure_threshold: 1, node_silence_max: 60 });
    const at = await launchOf(id);
    await listen(at + 59 * SECOND);
    await here.settle();
    expect((await view(id)).counters).toMatchObject({ in_progress: 2, failed: 0 });
    await listen(at + 61 * SECOND);
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "running", current_batch: 1, counters: { failed: 2 } });
    const failed = (await upgrades(id)).filter(({ status }) => status === "failed");
    const silent = { error_code: "NODE_SILENT", silent_since: null };
    expect(failed).toMatchObject([silent, silent]);
    const signals = await here.db`
      select actor, reason, applied from rollout_signals where rollout_id = ${id} and kind = 'give_up'`;
    const told = { actor: "fairlead", reason: "no heartbeat for 60 s (node_silence_max)", applied: true };
    expect(signals).toMatchObject([told, told]);
  });

  test("ROLL-30: waits five minutes where the manifest says nothing", async () => {
    const id = await begun({ failure_threshold: 1 });
    const at = await launchOf(id);
    await listen(at + 5 * MINUTE - SECOND);
    await here.settle();
    expect((await view(id)).counters.failed).toBe(0);
    await listen(at + 5 * MINUTE);
    await here.settle();
    expect((await view(id)).counters.failed).toBe(2);
  });

  test("ROLL-30: is not silent while the control plane itself was away", async () => {
    const id = await begun();
    const at = await launchOf(id);
    await here.db`delete from health_watch`;
    await watchSilence(here.db, at + 60 * MINUTE);
    expect(await view(id)).toMatchObject({ silent_nodes: 0, counters: { failed: 0 } });
  });
});

describe("a look that is bounded to fewer nodes than are silent", () => {
  const MOST = 2;
  // The bound is one for all rollouts: those of other tests are over.
  beforeEach(async () => void (await here.db`update rollouts set status = 'cancelled', ended_at = now()`));
  const silentOf = async (id: string) =>
    (await upgrades(id)).filter(({ silent_since }) => silent_since !== null).map(({ node_id }) => node_id);

  /** Of four nodes at work, two are marked as silent; the other two were heard 20 seconds after the launch. */
  async function twoMarked(late: readonly NodeId[]) {
    const id = await begun({ batch_size: 4 });
    const at = await launchOf(id);
    await here.beat(id, at);
    await here.db`
      update node_heartbeats set received_at = ${new Date(at)}::timestamptz
        + case when node_id = any(${[...late]}) then interval '20 seconds' else interval '0' end
      where node_id = any(${nodes})`;
    await listen(at + 31 * SECOND);
    expect((await silentOf(id)).toSorted()).toEqual(nodes.filter((node) => !late.includes(node)).toSorted());
    return { id, at };
  }
  const halves = () => [nodes.slice(0, 2), nodes.slice(2)];

  test.each([0, 1])(
    "ROLL-30: marks nodes that are not marked yet before the others (half %i)",
    async (half) => {
      const late = halves()[half]!;
      const { id, at } = await twoMarked(late);
      // Rewritten rows lie behind the marked ones, where a look without an order finds them last.
      await here.db`
        update rollout_nodes set progress_pct = 1 where rollout_id = ${id} and node_id = any(${late})`;
      await listen(at + 60 * SECOND, MOST);
      expect(await silentOf(id)).toHaveLength(4);
    },
  );

  test.each([0, 1])(
    "ROLL-30: unmarks nodes that are heard again before the others (half %i)",
    async (half) => {
      const { id, at } = await twoMarked([]);
      const heard = halves()[half]!;
      await here.db`
      update node_heartbeats set received_at = ${new Date(at + 50 * SECOND)} where node_id = any(${heard})`;
      await listen(at + 60 * SECOND, MOST);
      expect((await silentOf(id)).toSorted()).toEqual(
        nodes.filter((node) => !heard.includes(node)).toSorted(),
      );
    },
  );

  test.each([0, 1])("ROLL-30: gives up nodes at their limit before the others (half %i)", async (half) => {
    const late = halves()[half]!;
    const { id, at } = await twoMarked(late);
    await listen(at + 60 * SECOND);
    expect(await silentOf(id)).toHaveLength(4);
    expect(await listen(at + 310 * SECOND, MOST)).toBe(2);
    const signals = await here.db<{ node_id: NodeId }[]>`
      select node_id from rollout_signals where rollout_id = ${id} and kind = 'give_up'`;
    expect(signals.map(({ node_id }) => node_id).toSorted()).toEqual(
      nodes.filter((node) => !late.includes(node)).toSorted(),
    );
  });
});

describe("`give-up`", () => {
  test("ROLL-30: fails one node at once, in the name of whoever asked, and is refused for one that is not at work", async () => {
    const id = await begun();
    const nodeIn = async (status: string) =>
      (await upgrades(id)).find((node) => node.status === status)!.node_id;
    expect(await ask(id, `nodes/${await nodeIn("pending")}/give-up`)).toMatchObject({
      status: 409,
      code: "ILLEGAL_TRANSITION",
    });
    const given = await nodeIn("in_progress");
    expect((await ask(id, `nodes/${given}/give-up`, { reason: "no power" })).status).toBe(202);
    await here.settle();
    expect((await upgrades(id)).find(({ node_id }) => node_id === given)).toMatchObject({
      status: "failed",
      error_code: "GIVEN_UP",
      error_message: expect.stringContaining("no power") as string,
    });
    const [state] = await here.db`select state from node_profiles where node_id = ${given}`;
    expect(state).toEqual({ state: "degraded" });
  });

  test("ROLL-30: of all silent nodes is refused while none is, and leaves those that answer", async () => {
    const id = await begun();
    expect(await ask(id, "give-up")).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    const at = await launchOf(id);
    const [first] = (await upgrades(id)).filter(({ status }) => status === "in_progress");
    await here.beat(id, at);
    await here.db`update node_heartbeats set received_at = ${new Date(at + MINUTE)} where node_id = ${first!.node_id}`;
    await here.db`
      update node_heartbeats set received_at = ${new Date(at)} where node_id = any(${nodes}) and node_id <> ${first!.node_id}`;
    await listen(at + MINUTE);
    expect((await ask(id, "give-up")).status).toBe(202);
    await here.settle();
    expect((await view(id)).counters).toMatchObject({ in_progress: 1, failed: 1 });
  });

  test("ROLL-30: is taken during a rollback with an offline node, which then goes on", async () => {
    const id = await begun({ batch_size: 4 });
    await here.report(id);
    await ask(id, "rollback");
    await here.settle();
    await listen((await launchOf(id)) + 31 * SECOND);
    expect(await view(id)).toMatchObject({ status: "rolling_back" });
    expect((await view(id)).why!.text).toContain("--all-silent");
    expect((await ask(id, "give-up", { reason: "rack is off" })).status).toBe(202);
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "rolled_back", counters: { failed_rollback: 4 } });
  });
});

test("ROLL-30: a rollback does not wait for a node that was offline before it longer than it takes to show itself", async () => {
  const id = await begun({ batch_size: 4 });
  await here.report(id);
  await here.db`update node_heartbeats set received_at = now() - interval '1 hour' where node_id = any(${nodes})`;
  await ask(id, "rollback");
  await here.settle();
  await listen((await launchOf(id)) + 30 * SECOND);
  await here.settle();
  expect(await view(id)).toMatchObject({ status: "rolled_back", counters: { failed_rollback: 4 } });
});

describe("a node that is revoked while its rollout runs", () => {
  const revoke = (node: NodeId) => revokeNode(here.db, node, "ann", "stolen");
  const commandsOf = async (node: NodeId) => here.db`select 1 from commands where node_id = ${node}`;

  test("ROLL-30: at work ends at once with NODE_REVOKED, in the name of whoever revoked it", async () => {
    const id = await begun();
    const [atWork] = (await upgrades(id)).filter(({ status }) => status === "in_progress");
    await revoke(atWork!.node_id);
    await here.settle();
    expect((await upgrades(id)).find(({ node_id }) => node_id === atWork!.node_id)).toMatchObject({
      status: "failed",
      error_code: "NODE_REVOKED",
    });
    const [event] = await here.db`
      select actor from events where rollout_id = ${id} and kind = 'rollout.signal' and node_id = ${atWork!.node_id}`;
    expect(event).toEqual({ actor: "ann" });
  });

  test("ROLL-30: before its turn gets no command, and its batch does not wait for it", async () => {
    const id = await begun();
    const [waiting] = (await upgrades(id)).filter(({ status }) => status === "pending");
    await revoke(waiting!.node_id);
    await here.settle();
    await here.report(id);
    await here.report(id);
    expect(await commandsOf(waiting!.node_id)).toHaveLength(0);
    expect(await view(id)).toMatchObject({
      status: "completed",
      why: { code: "NOT_ALL_UPGRADED" },
      counters: { succeeded: 3, skipped: 1 },
    });
  });

  test("ROLL-30: whose revocation the step does not know yet gets no command either", async () => {
    const id = await begun();
    const [waiting] = (await upgrades(id)).filter(({ status }) => status === "pending");
    await here.db`update nodes set revoked_at = now() where id = ${waiting!.node_id}`;
    await here.report(id);
    await here.report(id);
    expect(await commandsOf(waiting!.node_id)).toHaveLength(0);
    expect(await view(id)).toMatchObject({ status: "completed", counters: { succeeded: 3, skipped: 1 } });
  });

  test("ROLL-11: while its retry waits is left out, and the rollout goes on with the others", async () => {
    const id = await begun();
    await here.report(id, "FAILED");
    await ask(id, "retry");
    await here.step(id as RolloutId); // notes the retries
    const [revoked] = (await upgrades(id)).filter(({ status }) => status === "failed");
    await here.db`update nodes set revoked_at = now() where id = ${revoked!.node_id}`;
    await here.settle();
    await here.report(id);
    expect(await view(id)).toMatchObject({ status: "paused", counters: { succeeded: 1, failed: 1 } });
    expect((await view(id)).why!.code).not.toBe("RETRYING");
    expect(await commandsOf(revoked!.node_id)).toHaveLength(1);
    await ask(id, "resume");
    await here.settle();
    await here.report(id);
    expect(await view(id)).toMatchObject({ status: "failed", counters: { succeeded: 3, failed: 1 } });
  });

  test("ROLL-11: a retry of all is refused when every failed node was revoked, and taken when one was not", async () => {
    const id = await begun({ batch_size: 4 });
    await here.report(id, "FAILED");
    for (const node of nodes) await revoke(node);
    await here.settle();
    const refused = await ask(id, "retry");
    expect(refused).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    expect((refused.body as { error: { message: string } }).error.message).toBe(
      "every failed node of this rollout was revoked: enroll the machines again and create a rollout for them",
    );
    await here.db`update nodes set revoked_at = null where id = ${nodes[0]!}`;
    expect((await ask(id, "retry")).status).toBe(202);
  });

  test("ROLL-14: after it succeeded is no part of a rollback, and the others go back", async () => {
    const id = await begun({ batch_size: 4 });
    await here.report(id);
    await revoke(nodes[0]!);
    await ask(id, "rollback");
    await here.settle();
    await here.report(id);
    expect(await view(id)).toMatchObject({
      status: "rolled_back",
      counters: { rolled_back: 3, succeeded: 1 },
    });
    expect(await commandsOf(nodes[0]!)).toHaveLength(1);
  });
});
