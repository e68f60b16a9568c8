// The release key of a running rollout is revoked (SNAP-15), on real rows and over HTTP: it stops, and goes on when signed again.

import { afterAll, beforeEach, expect, test } from "vitest";
import { Digest, ProfileId, RolloutId, type NodeId } from "../../../src/core/ids.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { runDigest, signIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { nodesTree } from "../../../src/trust/merkle.ts";
import { intentOf } from "../../support/trust.ts";
import { manualRequest, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";
import { randomUUID } from "node:crypto";

const HOUR_MS = 3_600_000;

let here: DrivenSite;
let nodes: NodeId[];
const profile = ProfileId.parse("stolen");
const sites: DrivenSite[] = [];
beforeEach(async () => {
  here = await startDrivenSite();
  sites.push(here);
  nodes = [];
  for (const name of ["a", "b", "c"]) nodes.push(await here.addNode(name, { profile }));
});
afterAll(async () => void (await Promise.all(sites.map((site) => site.stop()))));

const view = async (id: string) => (await here.ask("GET", `/rollouts/${id}`)).body as RolloutView;
const ask = (id: string, verb: string, body: object = {}) =>
  here.ask("POST", `/rollouts/${id}/${verb}`, body);

const intentFor = (id: string, signer: Signer, serial = 1): string =>
  signIntent(
    intentOf({
      cluster_id: here.clusterId,
      rollout_id: RolloutId.parse(id),
      chain_profile_id: profile,
      serial,
      fingerprint: Digest.parse(V2),
      run_digest: runDigest(RunSpec.parse({})),
      nodes_root: nodesTree(nodes.map((node_id) => ({ node_id, configs: [] }))).root,
      not_after: new Date(Date.now() + HOUR_MS).toISOString(),
    }),
    signer,
  ).toString("base64");

async function create(): Promise<string> {
  const id = randomUUID();
  const request = manualRequest({
    id,
    chain_profile_id: profile,
    batch_size: 1,
    health_wait_seconds: 0,
    intent: intentFor(id, here.release),
  });
  expect(await here.ask("POST", "/rollouts", request)).toMatchObject({ status: 201 });
  return id;
}

/** The first of three batches is at work. */
async function running(): Promise<string> {
  const id = await create();
  await ask(id, "start");
  await here.settle();
  expect(await view(id)).toMatchObject({ status: "running", counters: { in_progress: 1, pending: 2 } });
  return id;
}

const incidents = () =>
  here.db`select severity, status, rollout_id from incidents where category = 'intent_untrusted'`;

test("SNAP-15: a rollout whose release key is revoked pauses with its reason and an incident, launches nothing more, and completes under a new intent", async () => {
  const id = await running();
  const isAwake = async () => (await here.db`select 1 from rollouts where wake_at <= now()`).length > 0;
  expect(await isAwake()).toBe(false);
  const next = await here.replaceRelease();
  expect(await isAwake()).toBe(true); // before any report: the sweep finds it
  await here.settle();
  const stopped = await view(id);
  expect(stopped).toMatchObject({ status: "paused", why: { code: "INTENT_UNTRUSTED" } });
  expect(stopped.why!.text).toMatch(/key [0-9a-f]{12} .*Sign a new one with another release key/);
  expect(await incidents()).toMatchObject([{ severity: "critical", status: "open", rollout_id: id }]);
  await here.report(id);
  await ask(id, "resume");
  await here.settle();
  expect(await view(id)).toMatchObject({
    status: "paused",
    why: { code: "INTENT_UNTRUSTED" },
    counters: { succeeded: 1, pending: 2 },
  });
  expect(await here.db`select 1 from commands where rollout_id = ${id}`).toHaveLength(1);
  expect(await ask(id, "resume", { intent: intentFor(id, here.release, 2) })).toMatchObject({
    code: "INTENT_UNTRUSTED",
  });
  expect(await ask(id, "resume", { intent: intentFor(id, next, 2) })).toMatchObject({ status: 202 });
  for (let batch = 0; batch < 3; batch++) await here.report(id);
  expect(await view(id)).toMatchObject({ status: "completed", counters: { succeeded: 3 } });
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
});

test("SNAP-15: a rollout that stopped for its revoked key can be cancelled, and its incident is over", async () => {
  const id = await running();
  await here.replaceRelease();
  await here.report(id);
  expect((await view(id)).status).toBe("paused");
  await ask(id, "cancel");
  await here.settle();
  expect((await view(id)).status).toBe("cancelled");
  expect(await incidents()).toMatchObject([{ status: "resolved" }]);
});

test("SNAP-15: a rollback under a revoked key is refused until a new intent comes with it", async () => {
  const id = await running();
  for (let batch = 0; batch < 3; batch++) await here.report(id);
  expect((await view(id)).status).toBe("completed");
  const next = await here.replaceRelease();
  expect(await ask(id, "rollback")).toMatchObject({ code: "INTENT_REQUIRED" });
  expect(await ask(id, "rollback", { intent: intentFor(id, next, 2) })).toMatchObject({ status: 202 });
  await here.settle();
  expect((await view(id)).status).toBe("rolling_back");
});

test("SNAP-15: a component whose release key is revoked stops, its group waits with the reason, and a resume of the component lets both go on", async () => {
  const [id, groupId] = [randomUUID(), randomUUID()];
  const rollout = manualRequest({
    id,
    chain_profile_id: profile,
    binary_name: "web",
    batch_size: 3,
    health_wait_seconds: 0,
    intent: intentFor(id, here.release),
  });
  const made = await here.ask("POST", "/rollout-groups", {
    id: groupId,
    chain_profile_id: profile,
    failure_policy: "manual",
    desired_versions: { web: "2.0.0" },
    health_wait_seconds: 0,
    component_order: [{ component_index: 0, binary_name: "web", rollout }],
  });
  expect([made.status, made.code]).toEqual([201, undefined]);
  const next = await here.replaceRelease();
  await here.ask("POST", `/rollout-groups/${groupId}/start`, {});
  await here.settle();
  const group = async () => (await here.ask("GET", `/rollout-groups/${groupId}`)).body as GroupView;
  expect(await group()).toMatchObject({ status: "running", why: { code: "INTENT_UNTRUSTED" } });
  expect(await ask(id, "resume", { intent: intentFor(id, next, 2) })).toMatchObject({ status: 202 });
  await here.settle();
  await here.report(id);
  expect((await group()).status).toBe("completed");
});
