// What operators had asked for when a backup was made, and what the site that is restored from it makes of it.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { leaveThePast } from "../../../src/server/backup/leave-the-past.ts";
import { findOverdue } from "../../../src/server/drive/sweep.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => {
  here = await startDrivenSite();
  for (const profile of ["alone", "front", "back"]) await here.addNode(profile, { profile });
});
afterAll(() => here.stop());

const rolloutOf = (chain_profile_id: string) =>
  manualRequest({ chain_profile_id, binary_name: chain_profile_id });
const statusOf = async (path: string): Promise<string> =>
  ((await here.ask("GET", path)).body as { status: string }).status;

async function createBoth(): Promise<string[]> {
  const alone = rolloutOf("alone");
  expect(await here.ask("POST", "/rollouts", alone)).toMatchObject({ status: 201 });
  const group = {
    id: randomUUID(),
    chain_profile_id: "front",
    failure_policy: "manual",
    desired_versions: { front: "2.0.0", back: "2.0.0" },
    component_order: ["front", "back"].map((binary_name, component_index) => ({
      component_index,
      binary_name,
      rollout: rolloutOf(binary_name),
    })),
  };
  expect(await here.ask("POST", "/rollout-groups", group)).toMatchObject({ status: 201 });
  return [`/rollouts/${String(alone["id"])}`, `/rollout-groups/${group.id}`];
}

test("USE-5: a start that nobody had read when the backup was made begins nothing by itself, of a rollout or a group", async () => {
  const paths = await createBoth();
  for (const path of paths)
    expect(await here.ask("POST", `${path}/start`, {})).toMatchObject({ status: 202 });
  await here.db`update rollout_signals set created_at = now() - interval '1 hour'`;
  await here.db`update group_signals set created_at = now() - interval '1 hour'`;
  expect(await findOverdue(here.db)).toHaveLength(2);

  await here.db.begin((tx) => leaveThePast(tx, Date.now()));
  expect(await findOverdue(here.db)).toEqual([]);
  await here.settle();
  for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, "pending"]);
  expect(await here.db`select 1 from commands`).toHaveLength(0);

  // Whoever asks again is heard.
  for (const path of paths)
    expect(await here.ask("POST", `${path}/start`, {})).toMatchObject({ status: 202 });
  await here.settle();
  for (const path of paths) expect([path, await statusOf(path)]).toEqual([path, "running"]);
});
