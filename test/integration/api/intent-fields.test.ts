// A rollout is created only with an intent that says what the request says, field by field (SNAP-15).

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ClusterId, Digest, type NodeId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import type { Intent } from "../../../src/core/protocol/intent.ts";
import { runDigest, signIntent } from "../../../src/trust/intent.ts";
import { nodesTree } from "../../../src/trust/merkle.ts";
import {
  digestLike,
  manualRequest,
  startCreationSite,
  V2,
  type CreationSite,
} from "../../support/server/creation-site.ts";
import { intentOf } from "../../support/trust.ts";

const HOUR_MS = 3_600_000;
const RUN = { args: [], env: {}, user: null };
const iso = (at: number): string => new Date(at).toISOString();

let site: CreationSite;
let node: NodeId;
beforeAll(async () => {
  site = await startCreationSite();
  node = await site.addNode("n0");
});
afterAll(() => site.stop());
beforeEach(async () => void (await site.db`update rollouts set status = 'cancelled'`));

async function create(changes: Partial<Intent> = {}) {
  const id = RolloutId.parse(randomUUID());
  const intent = intentOf({
    cluster_id: site.clusterId,
    rollout_id: id,
    chain_profile_id: ProfileId.parse("web"),
    fingerprint: Digest.parse(V2),
    run_digest: runDigest(RUN),
    nodes_root: nodesTree([{ node_id: node, configs: [] }]).root,
    not_before: iso(Date.now() - HOUR_MS),
    not_after: iso(Date.now() + HOUR_MS),
    ...changes,
  });
  const bytes = signIntent(intent, site.release).toString("base64");
  return site.ask("POST", "/rollouts", manualRequest({ id, intent: bytes }));
}
const rollouts = () => site.db`select id from rollouts order by id`;

test("SNAP-15: an intent that agrees with the request in every field is taken", async () => {
  expect(await create()).toMatchObject({ status: 201 });
});

test.each<[keyof Intent, unknown]>([
  ["cluster_id", ClusterId.parse(randomUUID())],
  ["rollout_id", RolloutId.parse(randomUUID())],
  ["chain_profile_id", "other"],
  ["fingerprint", digestLike("3")],
  ["run_digest", digestLike("4")],
  ["nodes_root", "5".repeat(64)],
])("SNAP-15: an intent with another %s is INTENT_MISMATCH, and nothing is written", async (field, value) => {
  const before = await rollouts();
  const answer = await create({ [field]: value });
  expect(answer).toMatchObject({ code: "INTENT_MISMATCH", body: { error: { detail: { field } } } });
  expect(await rollouts()).toEqual(before);
});

test("SNAP-15: an intent whose window is over is INTENT_EXPIRED, and nothing is written", async () => {
  const before = await rollouts();
  expect(await create({ not_after: iso(Date.now() - 1_000) })).toMatchObject({ code: "INTENT_EXPIRED" });
  expect(await rollouts()).toEqual(before);
});
