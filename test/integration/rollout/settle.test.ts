// A rollout settles its own assignments only: one that belongs to a later rollout stays as it was signed.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

test("SNAP-16: a verdict settles no assignment that another rollout wrote meanwhile", async () => {
  const [mine, other] = [
    await here.addNode("mine", { profile: "settled" }),
    await here.addNode("other", { profile: "settled" }),
  ];
  const answer = await here.ask(
    "POST",
    "/rollouts",
    manualRequest({ chain_profile_id: "settled", health_wait_seconds: 0 }),
  );
  const { id } = answer.body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  await here.db`update service_assignments set rollout_id = ${randomUUID()} where node_id = ${other}`;
  await here.report(id);
  const rows = await here.db<{ node_id: string; kind: string }[]>`
    select node_id, kind from service_assignments where chain_profile_id = 'settled'`;
  expect(Object.fromEntries(rows.map(({ node_id, kind }) => [node_id, kind]))).toEqual({
    [mine]: "settled",
    [other]: "upgrading",
  });
});
