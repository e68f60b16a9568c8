// What nodes say of themselves, stored as it comes in and judged by a step that reads it from real rows.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { digestLike, manualRequest, V1 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

/** A rollout to one node, launched. */
async function launched(profile: string, healthWaitSeconds = 0): Promise<RolloutId> {
  await here.addNode(`node-${profile}`, { profile });
  const request = { chain_profile_id: profile, health_wait_seconds: healthWaitSeconds };
  const { status, body } = await here.ask("POST", "/rollouts", manualRequest(request));
  expect(status).toBe(201);
  const { id } = body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.step(id);
  return id;
}

async function nodeOf(id: RolloutId) {
  const [row] = await here.db<
    { status: string; direction: string; error_code: string | null }[]
  >`select status, direction, error_code from rollout_nodes where rollout_id = ${id}`;
  return row!;
}

test("ROLL-15: a node that is well has succeeded", async () => {
  const id = await launched("well");
  await here.report(id, "COMPLETED", { sync_status: "syncing", application_health: "degraded" });
  expect(await nodeOf(id)).toEqual({ status: "succeeded", direction: "forward", error_code: null });
});

test("ROLL-15: a heartbeat that overtook the report counts as heard with it, and says how the node is", async () => {
  const id = await launched("overtaken");
  await here.beat(id, Date.now() + 60_000);
  await here.report(id, "COMPLETED", { application_health: "critical" });
  expect(await nodeOf(id)).toEqual({ status: "succeeded", direction: "forward", error_code: null });
});

test.each([
  ["another instance", { instance_id: "some.forward.0.1" }],
  ["another program", { running_fingerprint: V1 }],
])(
  "ROLL-15: one of %s, by a clock that was set back since, counts for nothing: the next one is waited for",
  async (_, facts) => {
    const id = await launched(`set-back-${Math.random().toString(36).slice(2)}`);
    await here.beat(id, Date.now() + 60_000, facts);
    await here.report(id);
    expect(await nodeOf(id)).toEqual({ status: "in_progress", direction: "forward", error_code: null });
  },
);

test.each([
  ["HEALTH_STALLED", { sync_status: "stalled" }],
  ["HEALTH_CRITICAL", { application_health: "critical" }],
  ["HEALTH_CRASH_LOOP", { restarts: 3 }],
  ["HEALTH_WRONG_FINGERPRINT", { running_fingerprint: V1 }],
  ["HEALTH_WRONG_FINGERPRINT", { running_fingerprint: null }],
  ["HEALTH_WRONG_FINGERPRINT", { chain_profile_id: "another", running_fingerprint: digestLike("2") }],
])("ROLL-15: %s sends back a node that says %o", async (code, facts) => {
  const id = await launched(`ill-${Math.random().toString(36).slice(2)}`);
  await here.report(id, "COMPLETED", facts);
  expect(await nodeOf(id)).toEqual({ status: "in_progress", direction: "reverse", error_code: code });
});

test("ROLL-15: HEALTH_NODE_DOWN sends back a node that was found down meanwhile", async () => {
  const id = await launched("down", 3_600);
  await here.report(id);
  await here.db`update nodes set state = 'down' where name = 'node-down'`;
  await here.db`
    update node_heartbeats set received_at = now() - interval '2 minutes'
    where node_id = (select id from nodes where name = 'node-down')`;
  await expectSentBackWhenDue(id, "HEALTH_NODE_DOWN");
});

test("ROLL-15: a node that was launched while down and is heard again succeeds, before its stored state is judged anew", async () => {
  const id = await launched("back");
  await here.db`update nodes set state = 'down' where name = 'node-back'`;
  await here.report(id);
  expect(await nodeOf(id)).toEqual({ status: "succeeded", direction: "forward", error_code: null });
});

test("ROLL-15: a stored state of down does not end the health wait of a node that sends heartbeats", async () => {
  const id = await launched("waits", 3_600);
  await here.db`update nodes set state = 'down' where name = 'node-waits'`;
  await here.report(id);
  await here.db`
    update rollouts set health_until = now() - interval '1 second' where id = ${id}`;
  await here.db`update rollout_nodes set installed_at = now() + interval '1 hour' where rollout_id = ${id}`;
  await here.settle();
  expect(await nodeOf(id)).toEqual({ status: "in_progress", direction: "forward", error_code: null });
});

test("ROLL-15: HEALTH_NO_HEARTBEAT sends back a node that fell silent before the wait was over", async () => {
  const id = await launched("silent", 3_600);
  await here.report(id);
  await here.db`update node_heartbeats set received_at = received_at - interval '1 day'`;
  await expectSentBackWhenDue(id, "HEALTH_NO_HEARTBEAT");
});

/** The wait lies in the past by more than what a late heartbeat is given. */
async function expectSentBackWhenDue(id: RolloutId, code: string): Promise<void> {
  expect(await nodeOf(id)).toMatchObject({ status: "in_progress", direction: "forward", error_code: null });
  await here.db`update rollouts set health_until = now() - interval '1 hour' where id = ${id}`;
  await here.db`update rollout_nodes set installed_at = now() - interval '2 hours' where rollout_id = ${id}`;
  await here.settle();
  expect(await nodeOf(id)).toEqual({ status: "in_progress", direction: "reverse", error_code: code });
}

describe("restarts of a program are counted within the health wait", () => {
  /** Two nodes of one batch: the first has run for two hours, and restarted three times, when the second is installed. */
  async function restartedBefore(
    profile: string,
    during: number,
    installedAgo = "2 hours",
  ): Promise<RolloutId> {
    await here.addNode(`other-${profile}`, { profile });
    const id = await launched(profile, 3_600);
    await here.beat(id, Date.now(), { restarts: 3 });
    await here.db`
      update rollout_nodes set upgrade_phase = 'VERIFYING', installed_at = now() - ${installedAgo}::interval
      where rollout_id = ${id}
        and node_id = (select id from nodes where name = ${`other-${profile}`})`;
    await here.report(id, "COMPLETED", { restarts: 3 }); // the wait begins
    await here.beat(id, Date.now() + 60_000, { restarts: 3 + during });
    await here.db`update rollouts set health_until = now() - interval '1 minute' where id = ${id}`;
    await here.settle();
    return id;
  }
  const firstOf = async (id: RolloutId, profile: string) => {
    const [row] = await here.db<{ status: string; direction: string; error_code: string | null }[]>`
      select rn.status, rn.direction, rn.error_code from rollout_nodes rn join nodes n on n.id = rn.node_id
      where rn.rollout_id = ${id} and n.name = ${`other-${profile}`}`;
    return row!;
  };

  test("ROLL-15: restarts from before the wait began are no crash loop", async () => {
    const id = await restartedBefore("settled-down", 2);
    expect(await firstOf(id, "settled-down")).toEqual({
      status: "succeeded",
      direction: "forward",
      error_code: null,
    });
  });

  test("ROLL-15: three restarts within the wait are a crash loop", async () => {
    const id = await restartedBefore("crashing", 3);
    expect(await firstOf(id, "crashing")).toMatchObject({
      direction: "reverse",
      error_code: "HEALTH_CRASH_LOOP",
    });
  });

  test("ROLL-15: restarts right after the start count, however soon the wait began", async () => {
    const id = await restartedBefore("from-the-start", 0, "1 minute");
    expect(await firstOf(id, "from-the-start")).toMatchObject({ error_code: "HEALTH_CRASH_LOOP" });
  });

  test("ROLL-15: a program that was started anew within the wait is counted from its start", async () => {
    const id = await restartedBefore("started-anew", -1);
    expect(await firstOf(id, "started-anew")).toMatchObject({ status: "succeeded" });
  });
});
