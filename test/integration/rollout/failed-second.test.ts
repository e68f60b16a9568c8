// A rollout that failed before it changed anything takes no way back away (ROLL-14).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { digestLike, manualRequest, V1, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const V3 = digestLike("3");

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

async function startRollout(profile: string, changes: object = {}): Promise<string> {
  const request = { chain_profile_id: profile, batch_size: 2, health_wait_seconds: 0, ...changes };
  const { id } = (await here.ask("POST", "/rollouts", manualRequest(request))).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  return id;
}

const ask = async (id: string, signal: string) => {
  const answer = await here.ask("POST", `/rollouts/${id}/${signal}`, {});
  await here.settle();
  return answer;
};

const assigned = async (profile: string) => {
  const rows = await here.db<
    { rollout_id: string; kind: string; target_fp: string; rollback_fp: string | null }[]
  >`
    select rollout_id, kind, target_fp, rollback_fp from service_assignments where chain_profile_id = ${profile}`;
  return rows.map(({ rollout_id, kind, target_fp, rollback_fp }) => [
    rollout_id,
    kind,
    target_fp,
    rollback_fp,
  ]);
};

/** 1 → 2 completed, then 2 → 3 that ended so on every node. */
async function twoRollouts(profile: string, second: (id: string) => Promise<void>) {
  for (const name of ["a", "b"]) await here.addNode(`${profile}-${name}`, { profile });
  const first = await startRollout(profile);
  await here.report(first);
  const next = { source_version: "2.0.0", target_version: "3.0.0", target_binary_checksum: V3 };
  const later = await startRollout(profile, next);
  await second(later);
  await ask(later, "cancel");
  return { first, later };
}

test("ROLL-14: after a rollout that failed everywhere before it changed anything, the one before it is rolled back", async () => {
  const profile = "failed-second";
  const { first, later } = await twoRollouts(profile, (id) => here.report(id, "FAILED"));
  expect(await here.statusesOf(later)).toEqual(["failed", "failed"]);
  expect(await assigned(profile)).toEqual([
    [first, "settled", V2, V1],
    [first, "settled", V2, V1],
  ]);
  expect((await ask(later, "rollback")).body).toMatchObject({ error: { code: "NOTHING_TO_ROLL_BACK" } });
  expect((await ask(first, "rollback")).status).toBe(202);
  await here.report(first);
  expect(await here.statusesOf(first)).toEqual(["rolled_back", "rolled_back"]);
});

test("ROLL-14: after a rollout that went forward and back, the one before it is refused with what to do", async () => {
  const profile = "there-and-back";
  const { first, later } = await twoRollouts(profile, async (id) => {
    await here.report(id, "COMPLETED", { application_health: "critical" });
    await here.report(id, "COMPLETED");
  });
  expect(await here.statusesOf(later)).toEqual(["failed", "failed"]);
  expect(await assigned(profile)).toEqual([
    [later, "settled", V2, null],
    [later, "settled", V2, null],
  ]);
  const { body } = await ask(first, "rollback");
  expect(body).toMatchObject({ error: { code: "ROLLBACK_REFUSED" } });
  expect((body as { error: { message: string } }).error.message).toBe(
    "a later rollout upgraded and rolled back some of these nodes; they no longer store the version before it: create a rollout to 1.0.0",
  );
});

test("ROLL-14: a node's end leaves an assignment alone that is another rollout's by now", async () => {
  const profile = "others";
  await here.addNode("others-a", { profile });
  const id = await startRollout(profile);
  const other = "00000000-0000-4000-8000-000000000001";
  await here.db`update service_assignments set rollout_id = ${other} where chain_profile_id = ${profile}`;
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded"]);
  expect(await assigned(profile)).toEqual([[other, "upgrading", V2, null]]);
});

test("ROLL-14: while the later rollout's version runs, the one before it is refused, and the later one is named", async () => {
  const profile = "later-runs";
  for (const name of ["a", "b"]) await here.addNode(`${profile}-${name}`, { profile });
  const first = await startRollout(profile);
  await here.report(first);
  const later = await startRollout(profile, {
    source_version: "2.0.0",
    target_version: "3.0.0",
    target_binary_checksum: V3,
  });
  await here.report(later);
  expect((await ask(first, "rollback")).body).toMatchObject({
    error: { code: "ROLLBACK_REFUSED", detail: { rollout_id: later } },
  });
});
