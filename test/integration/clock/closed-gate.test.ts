// What goes on and what waits while the clocks of the control plane disagree (SNAP-17).

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { createClockGate } from "../../../src/server/clock/gate.ts";
import { advanceRollout } from "../../../src/server/rollout/advance.ts";
import { publishDirty } from "../../../src/server/snapshots/dirty.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";
import { movableClock } from "../../support/server/movable-clock.ts";
import { createFleet, type Fleet } from "../snapshots/fleet.ts";
import { createReader } from "../snapshots/reader.ts";

const HOUR_MS = 3_600_000;

let here: DrivenSite;
let databases: TestDatabases;
let fleet: Fleet;
let node: NodeId;

beforeAll(async () => {
  here = await startDrivenSite();
  databases = await startTestDatabases();
  const { db } = await databases.fresh();
  fleet = await createFleet(db);
  await fleet.believe();
  node = await fleet.node(["core_mesh"]);
  await fleet.compileAll();
});
afterAll(async () => {
  await here.stop();
  await databases.stop();
});

const jumped = () => {
  const clock = movableClock();
  const gate = createClockGate(clock);
  clock.jump(12 * HOUR_MS);
  return gate;
};

test.each<[string, () => ReturnType<typeof createClockGate>]>([
  ["the wall clock jumped", jumped],
  [
    "the database shows another time than the wall clock",
    () => createClockGate(movableClock(Date.now() + HOUR_MS)),
  ],
])("SNAP-17: a step of a rollout changes nothing when %s", async (_when, gateOf) => {
  await here.addNode(`node-${_when}`, { profile: "held" });
  const request = manualRequest({ chain_profile_id: "held" });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  const deps = { db: here.db, onCommitted: () => undefined, nudgeGroup: () => undefined };
  const authority = { ...here.authority, clock: gateOf() };
  await expect(advanceRollout({ ...deps, authority }, id)).rejects.toMatchObject({ code: "CLOCK_DISAGREES" });
  expect(await here.db`select 1 from commands where rollout_id = ${id}`).toEqual([]);
  await here.step(id);
  expect(await here.db`select 1 from commands where rollout_id = ${id}`).not.toEqual([]);
  await here.ask("POST", `/rollouts/${id}/cancel`, {});
  await here.db`update rollouts set status = 'cancelled' where id = ${id}`; // frees the profile for the next case
});

test("SNAP-17: while the clocks disagree a node gets what was signed before, and no head", async () => {
  const reader = createReader({ ...fleet, authority: { ...fleet.authority, clock: jumped() } }, node);
  const answer = (await reader.ask())!;
  expect([answer.head, answer.snapshots.length > 1]).toEqual([null, true]);
  const agreed = { ...fleet.authority, clock: createClockGate() };
  expect((await createReader({ ...fleet, authority: agreed }, node).ask())!.head).not.toBeNull();
});

test("SNAP-17: a change that is marked while the clocks disagree is published when they agree", async () => {
  await fleet.route("one");
  const publish = (clock: ReturnType<typeof createClockGate>) =>
    publishDirty(fleet.db, { ...fleet.authority, clock }, Date.now);
  await expect(publish(jumped())).rejects.toMatchObject({ code: "CLOCK_DISAGREES" });
  expect(await fleet.marked()).toEqual(fleet.of("route_policy", node));
  expect(await publish(createClockGate())).toMatchObject({ published: 1, refused: [] });
});
