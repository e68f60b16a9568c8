// The control plane's own absence, read from real rows by a step (ROLL-29).
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

async function launchedHoursAgo(profile: string): Promise<RolloutId> {
  await here.addNode(`node-${profile}`, { profile });
  const { body } = await here.ask("POST", "/rollouts", manualRequest({ chain_profile_id: profile }));
  const { id } = body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.step(id);
  await here.db`update rollout_nodes set launched_at = now() - interval '5 hours' where rollout_id = ${id}`;
  return id;
}

const watchedSince = (lookedMsAgo: number, sinceMsAgo: number) => here.db`
  insert into health_watch (last_look_at, hearing_since)
  values (now() - make_interval(secs => ${lookedMsAgo / 1000}), now() - make_interval(secs => ${sinceMsAgo / 1000}))
  on conflict (only_one) do update set last_look_at = excluded.last_look_at, hearing_since = excluded.hearing_since`;

test("ROLL-29: a step before the first look after an absence fails no silent node, a step after the grace does", async () => {
  const id = await launchedHoursAgo("away");
  await watchedSince(4 * 3_600_000, 5 * 3_600_000);
  const first = await here.step(id);
  expect(await here.statusesOf(id)).toEqual(["in_progress"]);
  expect(first!.wakeAt).toBe(first!.now + LIMITS.reconnectGraceMs);
  await watchedSince(0, LIMITS.reconnectGraceMs - 10_000);
  await here.step(id);
  expect(await here.statusesOf(id)).toEqual(["in_progress"]);
  await watchedSince(0, LIMITS.reconnectGraceMs);
  await here.step(id);
  expect(await here.statusesOf(id)).toEqual(["failed"]);
});
