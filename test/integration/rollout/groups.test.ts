// A group and its components as rows on a real database.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import { GROUP_OBJECT } from "../../../src/server/drive/objects.ts";
import { findOverdue } from "../../../src/server/drive/sweep.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { signIntent } from "../../../src/trust/intent.ts";
import { digestLike, manualRequest } from "../../support/server/creation-site.ts";
import { intentOf } from "../../support/trust.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";
import { createApiKey } from "../../../src/server/auth/api-keys.ts";
import { callerOf, tokenOf } from "../../support/server/operators-site.ts";

let here: DrivenSite;
let profiles: string[];
let count = 0;

beforeAll(async () => {
  here = await startDrivenSite();
});
afterAll(() => here.stop());
beforeEach(async () => {
  count += 1;
  profiles = ["front", "back"].map((name) => `${name}-${count}`);
  for (const profile of profiles) await here.addNode(`${profile}-1`, { profile });
});

async function create(failure_policy: string, more: object = {}): Promise<string> {
  const component_order = ["front", "back"].map((binary_name, component_index) => ({
    component_index,
    binary_name,
    rollout: manualRequest({
      chain_profile_id: profiles[component_index],
      binary_name,
      health_wait_seconds: 0,
      ...more,
    }),
  }));
  const answer = await here.ask("POST", "/rollout-groups", {
    id: randomUUID(),
    chain_profile_id: profiles[0],
    failure_policy,
    desired_versions: { front: "2.0.0", back: "2.0.0" },
    health_wait_seconds: 0,
    component_order,
  });
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  return (answer.body as GroupView).id;
}
const view = async (id: string) => (await here.ask("GET", `/rollout-groups/${id}`)).body as GroupView;
const ask = (id: string, verb: string) => here.ask("POST", `/rollout-groups/${id}/${verb}`, {});
const componentsOf = async (id: string) => (await view(id)).components.map(({ rollout }) => rollout);

test("ROLL-11: a component refuses what would go behind its group's back", async () => {
  const id = await create("manual");
  const [first] = await componentsOf(id);
  for (const verb of ["start", "pause", "resume", "cancel", "rollback"])
    expect(await here.ask("POST", `/rollouts/${first!.id}/${verb}`, {})).toMatchObject({
      status: 409,
      code: "GROUP_MEMBER",
    });
  for (const verb of ["force", "approve-canary", "retry"])
    expect(await here.ask("POST", `/rollouts/${first!.id}/${verb}`, {})).toMatchObject({
      code: "ILLEGAL_TRANSITION",
    });
  await ask(id, "cancel");
  await here.settle();
  expect((await view(id)).status).toBe("cancelled");
  expect((await componentsOf(id)).map(({ status }) => status)).toEqual(["cancelled", "cancelled"]);
});

test("ROLL-11: a component that waits for absent nodes is resumed by itself, and its group goes on", async () => {
  const away = await here.addNode(`${profiles[0]}-away`, {
    profile: profiles[0]!,
    type: "db",
    labels: { zone: "west" },
  });
  await here.addNode(`${profiles[0]}-2`, { profile: profiles[0]!, labels: { zone: "west" } });
  await here.db`update nodes set state = 'down' where id = ${away}`;
  const id = await create("manual", { max_unavailable: { label: "zone", count: 1 } });
  await ask(id, "start");
  await here.settle();
  const [first] = await componentsOf(id);
  expect(first).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
  const steer = (verb: string) => here.ask("POST", `/rollouts/${first!.id}/${verb}`, {});
  for (const verb of ["pause", "cancel", "rollback"])
    expect(await steer(verb)).toMatchObject({ status: 409, code: "GROUP_MEMBER" });
  await here.db`update nodes set state = 'active' where id = ${away}`;
  expect(await steer("resume")).toMatchObject({ status: 202 });
  await here.settle();
  expect(await steer("resume")).toMatchObject({ status: 409, code: "GROUP_MEMBER" });
  for (const { id: component } of await componentsOf(id)) await here.report(component);
  expect((await view(id)).status).toBe("completed");
});

test("ROLL-2: a group holds the profiles of all its components until it has ended", async () => {
  const id = await create("manual");
  for (const profile of profiles) {
    const other = manualRequest({ chain_profile_id: profile });
    expect(await here.ask("POST", "/rollouts", other)).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
  }
  await ask(id, "cancel");
  await here.settle();
  expect(await here.db`select 1 from profile_claims where chain_profile_id = any(${profiles})`).toHaveLength(
    0,
  );
});

test("ROLL-11: the group asks its components by signals of their own, in the operator's name", async () => {
  const id = await create("manual");
  await ask(id, "start");
  await here.settle();
  const [first, second] = await componentsOf(id);
  expect([first!.status, second!.status]).toEqual(["running", "pending"]);
  const signals =
    await here.db`select kind, actor, reason, applied from rollout_signals where rollout_id = ${first!.id}`;
  expect(signals).toMatchObject([{ kind: "start", reason: `group ${id}`, applied: true }]);
  const asked = await here.db<{ actor: string }[]>`select actor from group_signals where group_id = ${id}`;
  expect(signals[0]!["actor"]).toBe(asked[0]!.actor);
  await here.report(first!.id);
  await here.report(second!.id);
  expect(await view(id)).toMatchObject({
    status: "completed",
    why: null,
    ended_at: expect.any(String) as string,
  });
});

test("ROLL-11: a group signal under a key that was used before is accepted and stored once", async () => {
  const id = await create("manual");
  const token = await tokenOf(here.app, await createApiKey(here.db, randomUUID(), ["admin"]));
  const headers = { "idempotency-key": randomUUID() };
  const start = () =>
    callerOf(here.app)("POST", `/api/v1/rollout-groups/${id}/start`, { token, headers, payload: {} });
  expect((await start()).statusCode).toBe(202);
  await here.settle();
  expect((await start()).statusCode).toBe(202); // a second start would be an illegal transition
  expect(await here.db`select 1 from group_signals where group_id = ${id}`).toHaveLength(1);
  await ask(id, "cancel");
  await here.settle();
});

test("SNAP-15: only a cancel takes empty intents, for components of its own, and a refused one leaves no signal", async () => {
  const id = await create("manual");
  const [first] = await componentsOf(id);
  const intent = signIntent(intentOf({ serial: 4 }), generateSigner().signer).toString("base64");
  const cases = [
    ["pause", first!.id, 400, "INVALID_INPUT"],
    ["cancel", randomUUID(), 400, "INVALID_INPUT"],
    ["cancel", first!.id, 422, "INTENT_UNTRUSTED"],
  ] as const;
  for (const [verb, rollout_id, status, code] of cases) {
    const asked = { void_intents: [{ rollout_id, intent }] };
    expect(await here.ask("POST", `/rollout-groups/${id}/${verb}`, asked)).toMatchObject({ status, code });
  }
  expect(await here.db`select 1 from group_signals where group_id = ${id}`).toHaveLength(0);
});

test("ROLL-13: what a component's failure does to the group stands in its events", async () => {
  const id = await create("rollback_all");
  await ask(id, "start");
  await here.settle();
  const [first, second] = await componentsOf(id);
  await here.report(first!.id);
  await here.report(second!.id, "FAILED");
  expect((await view(id)).status).toBe("rolling_back");
  await here.report(first!.id);
  expect((await view(id)).status).toBe("rolled_back");
  const events = await here.db<
    { kind: string; to: string | null; asked: string | null; component: number | null }[]
  >`
    select kind, data->>'to' as to, data->>'asked' as asked, (data->>'component')::int as component
    from events where group_id = ${id} and kind in ('group.status', 'group.component') order by id`;
  expect(events.map(({ to, asked, component }) => to ?? `${asked} ${component}`)).toEqual([
    "running",
    "start 0",
    "watch 0",
    "start 1",
    "rolling_back",
    "rollback 1",
    "rollback 0",
    "rolled_back",
  ]);
});

test("ROLL-14: a group that has ended goes back while its profiles are free, and not otherwise", async () => {
  const id = await create("manual");
  await ask(id, "start");
  await here.settle();
  for (const { id: rollout } of await componentsOf(id)) await here.report(rollout);
  expect((await view(id)).status).toBe("completed");
  const next = manualRequest({
    chain_profile_id: profiles[1],
    source_version: "2.0.0",
    target_version: "3.0.0",
  });
  const other = (await here.ask("POST", "/rollouts", next)).body as { id: string };
  expect(await ask(id, "rollback")).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
  await here.ask("POST", `/rollouts/${other.id}/cancel`, {});
  await here.settle();
  expect(await ask(id, "rollback")).toMatchObject({ status: 202 });
  await here.settle();
  for (const { id: rollout } of (await componentsOf(id)).toReversed()) await here.report(rollout);
  expect((await view(id)).status).toBe("rolled_back");
});

test("ROLL-14: a rolled back group takes a second rollback for a node that came back on the new version", async () => {
  const id = await create("manual");
  await ask(id, "start");
  await here.settle();
  const [front, back] = await componentsOf(id);
  await here.report(front!.id);
  await here.db`update rollout_nodes set launched_at = now() - interval '1 hour' where rollout_id = ${back!.id}`;
  await here.settle();
  expect((await view(id)).status).toBe("paused"); // its only node was given up, and has not said what it runs
  await ask(id, "rollback");
  await here.settle();
  await here.report(front!.id);
  expect(await view(id)).toMatchObject({
    status: "rolled_back",
    why: { text: "1 nodes are back on their previous version; 1 nodes have not said what they run" },
  });
  expect(await ask(id, "rollback")).toMatchObject({ code: "ROLLBACK_REFUSED" });
  await here.beat(back!.id, Date.now(), {}, "failed");
  await here.step(back!.id);
  expect(await ask(id, "rollback")).toMatchObject({ status: 202 });
  await here.settle();
  expect((await view(id)).status).toBe("rolling_back");
  await here.report(back!.id);
  expect(await view(id)).toMatchObject({
    status: "rolled_back",
    why: { text: "every component is back on its previous version" },
  });
  expect(await ask(id, "rollback")).toMatchObject({ code: "NOTHING_TO_ROLL_BACK" });
});

test("ROLL-22: a group that was not told of its component's step is found by the sweep", async () => {
  const id = await create("manual");
  await ask(id, "start");
  await here.settle();
  const isFound = async () =>
    (await findOverdue(here.db)).some((found) => found.object === GROUP_OBJECT && found.id === id);
  expect(await isFound()).toBe(false);
  const [first] = await componentsOf(id);
  await here.db`
    insert into rollout_signals (rollout_id, kind, actor, idempotency_key)
    values (${first!.id}, 'pause', 'group', ${randomUUID()})`;
  await here.step(first!.id);
  expect(await isFound()).toBe(true);
  await here.settle();
  expect(await isFound()).toBe(false);
  await ask(id, "cancel");
});

test("ROLL-14: a group whose nodes a later rollout has changed is not rolled back over it", async () => {
  const id = await create("manual");
  await ask(id, "start");
  await here.settle();
  for (const { id: component } of await componentsOf(id)) {
    await here.report(component);
    await here.settle();
  }
  expect((await view(id)).status).toBe("completed");
  const laterId = randomUUID();
  const later = manualRequest({
    id: laterId,
    chain_profile_id: profiles[0],
    source_version: "2.0.0",
    target_version: "3.0.0",
    target_binary_checksum: digestLike("3"),
    health_wait_seconds: 0,
  });
  expect((await here.ask("POST", "/rollouts", later)).status).toBe(201);
  await here.ask("POST", `/rollouts/${laterId}/start`, {});
  await here.settle();
  await here.report(laterId);
  expect(await ask(id, "rollback")).toMatchObject({ code: "ROLLBACK_REFUSED" });
  expect((await view(id)).status).toBe("completed");
});
