// What the sweep finds on real rows, and that one replica sweeps at a time (ROLL-22).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { LOCKS } from "../../../src/server/db/locks.ts";
import { findOverdue } from "../../../src/server/drive/sweep.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
let id: string;
beforeAll(async () => {
  here = await startDrivenSite();
  await here.addNode("swept", { profile: "swept" });
  const created = await here.ask("POST", "/rollouts", manualRequest({ chain_profile_id: "swept" }));
  id = (created.body as RolloutView).id;
});
afterAll(() => here.stop());

const found = async (): Promise<boolean> => (await findOverdue(here.db)).some((each) => each.id === id);

test("ROLL-22: a wake-up whose time has passed is found, one to come is not", async () => {
  await here.db`update rollouts set wake_at = now() + interval '1 minute' where id = ${id}`;
  expect(await found()).toBe(false);
  await here.db`update rollouts set wake_at = now() - interval '5 seconds' where id = ${id}`;
  expect(await found()).toBe(true);
});

test("ROLL-22: a replica finds nothing while another one sweeps", async () => {
  await here.db`update rollouts set wake_at = now() - interval '5 seconds' where id = ${id}`;
  await here.db.begin(async (other) => {
    await other`select pg_advisory_xact_lock(${LOCKS.sweep})`;
    expect(await found()).toBe(false);
  });
  expect(await found()).toBe(true);
});
