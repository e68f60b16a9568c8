// Signals as rows on a real database: what is refused, what is recorded, and who holds a profile.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { signIntent } from "../../../src/trust/intent.ts";
import { intentOf } from "../../support/trust.ts";
import { manualRequest, V1 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
let profile: string;
let nodes: NodeId[];
let count = 0;

beforeAll(async () => {
  here = await startDrivenSite();
});
afterAll(() => here.stop());
beforeEach(async () => {
  profile = `profile-${++count}`;
  nodes = [];
  for (const [index, zone] of ["east", "west", "east", "west"].entries())
    nodes.push(await here.addNode(`${profile}-${index}`, { profile, labels: { zone } }));
});

async function create(changes: object = {}): Promise<string> {
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0, ...changes });
  const answer = await here.ask("POST", "/rollouts", request);
  expect([answer.status, answer.code]).toEqual([201, undefined]);
  return (answer.body as RolloutView).id;
}
const ask = (id: string, verb: string, body: object = {}) =>
  here.ask("POST", `/rollouts/${id}/${verb}`, body);
const view = async (id: string) => (await here.ask("GET", `/rollouts/${id}`)).body as RolloutView;

async function completed(): Promise<string> {
  const id = await create({ batch_size: 4 });
  await ask(id, "start");
  await here.settle();
  await here.report(id);
  expect((await view(id)).status).toBe("completed");
  return id;
}

describe("the limit of unavailable nodes", () => {
  test("ROLL-12: a node of the profile that is down elsewhere counts, and is waited for", async () => {
    const down = await here.addNode(`${profile}-other`, { profile, type: "db", labels: { zone: "west" } });
    await here.db`update nodes set state = 'down' where id = ${down}`;
    const id = await create({ max_unavailable: { label: "zone", count: 1 } });
    await ask(id, "start");
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
    expect((await view(id)).why!.text).toContain("zone=west");
    await here.db`update nodes set state = 'active' where id = ${down}`;
    await ask(id, "resume");
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "running", counters: { in_progress: 2 } });
    await ask(id, "cancel");
  });
});

test("ROLL-12: a revoked node that is down counts for no limit of unavailable nodes", async () => {
  const down = await here.addNode(`${profile}-revoked`, { profile, type: "db", labels: { zone: "west" } });
  await here.db`update nodes set state = 'down', revoked_at = now() where id = ${down}`;
  const id = await create({ max_unavailable: { label: "zone", count: 1 } });
  await ask(id, "start");
  await here.settle();
  expect(await view(id)).toMatchObject({ status: "running" });
  await ask(id, "cancel");
});

describe("the way back", () => {
  test("ROLL-21: what is recorded follows the way there and back", async () => {
    const id = await completed();
    const recorded = async () =>
      (
        await here.db`select binary_version, fingerprint from node_config_state where node_id = any(${nodes})`
      ).map(({ binary_version, fingerprint }) => `${binary_version} ${fingerprint}`);
    expect(new Set(await recorded()).size).toBe(1);
    expect((await recorded())[0]).toMatch(/^2\.0\.0 /);
    await ask(id, "rollback");
    await here.settle();
    await here.report(id);
    expect(await view(id)).toMatchObject({ status: "rolled_back", ended_at: expect.any(String) as string });
    expect(await recorded()).toEqual(Array(4).fill(`1.0.0 ${V1}`));
    const assigned = await here.db`
      select kind, target_fp, rollback_fp from service_assignments where node_id = any(${nodes})`;
    for (const row of assigned)
      expect(row).toMatchObject({ kind: "settled", target_fp: V1, rollback_fp: null });
  });

  test("ROLL-2: an ended rollout goes back only while nobody else holds its profile, and then holds it", async () => {
    const first = await completed();
    const second = await create({ source_version: "2.0.0", target_version: "3.0.0" });
    expect(await ask(first, "rollback")).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
    await ask(second, "cancel");
    await here.settle();
    expect(await ask(first, "rollback")).toMatchObject({ status: 202 });
    const third = manualRequest({
      chain_profile_id: profile,
      source_version: "2.0.0",
      target_version: "3.0.0",
    });
    expect(await here.ask("POST", "/rollouts", third)).toMatchObject({ status: 409, code: "ROLLOUT_ACTIVE" });
    await here.settle();
    await here.report(first);
    expect((await view(first)).status).toBe("rolled_back");
    const [claim] = await here.db`select owner from profile_claims where chain_profile_id = ${profile}`;
    expect(claim).toBeUndefined();
  });

  test("SNAP-15: with a closed window it is refused before any node is asked", async () => {
    const id = await completed();
    await here.db`update rollouts set intent_not_after = now() - interval '1 minute' where id = ${id}`;
    expect(await ask(id, "rollback")).toMatchObject({ status: 422, code: "INTENT_EXPIRED" });
    expect((await view(id)).status).toBe("completed");
  });

  test("SNAP-15: a new intent is refused while nodes work under the present one", async () => {
    const id = await create({ batch_size: 2 });
    await ask(id, "start");
    await here.settle();
    const intent = signIntent(intentOf({ serial: 9 }), here.release).toString("base64");
    expect(await ask(id, "rollback", { intent })).toMatchObject({ status: 409, code: "STATE_MOVED" });
    const [row] = await here.db`select intent_frame from rollouts where id = ${id}`;
    expect(row).toEqual({ intent_frame: null });
    await ask(id, "cancel");
    await here.report(id);
  });

  test("SNAP-15: after a cancel that called the intent off it needs a new one", async () => {
    const id = await completed();
    const intent = signIntent(intentOf({ serial: 4 }), here.release);
    await here.db`update rollouts set intent_frame = ${intent}, void_intent_serial = 5 where id = ${id}`;
    expect(await ask(id, "rollback")).toMatchObject({ status: 422, code: "INTENT_REQUIRED" });
    await here.db`update rollouts set void_intent_serial = 3 where id = ${id}`; // signed again since
    expect(await ask(id, "rollback")).toMatchObject({ status: 202 });
    await here.settle();
    await here.report(id);
  });

  test("ROLL-14: a node of which nothing is known from before stays, and the others go back", async () => {
    await here.db`update node_config_state set fingerprint = null where node_id = ${nodes[0]!}`;
    const id = await completed();
    await ask(id, "rollback");
    await here.settle();
    await here.report(id);
    expect(await here.statusesOf(id)).toEqual(["succeeded", "rolled_back", "rolled_back", "rolled_back"]);
    expect(await view(id)).toMatchObject({
      status: "rolled_back",
      counters: { succeeded: 1, rolled_back: 3 },
    });
  });

  test("ROLL-16: a crash loop after it is an incident with the recovery plan, and the node is degraded", async () => {
    const id = await create({
      batch_size: 4,
      strategy: "canary",
      canary_size: 4,
      migration_type: "breaking",
      recovery_plan: "restore, then reprovision",
      acknowledge_state_risk: true,
    });
    await ask(id, "start");
    await here.settle();
    await here.report(id);
    await ask(id, "rollback");
    await here.settle();
    await here.report(id, "COMPLETED", { restarts: 3 });
    expect(await view(id)).toMatchObject({ status: "rolled_back", counters: { failed_rollback: 4 } });
    const incidents = await here.db`
      select category, severity, recovery_plan from incidents where rollout_id = ${id}`;
    expect(incidents).toHaveLength(4);
    for (const incident of incidents)
      expect(incident).toMatchObject({
        category: "upgrade_rollback_failed",
        severity: "critical",
        recovery_plan: "restore, then reprovision",
      });
    const states = await here.db<
      { state: string }[]
    >`select state from node_profiles where node_id = any(${nodes})`;
    expect(states.map(({ state }) => state)).toEqual(Array(4).fill("degraded"));
  });
});

describe("signals about nodes", () => {
  test("ROLL-5: a node whose compensation failed is an incident, and a retry of it is refused", async () => {
    const id = await create({ batch_size: 4 });
    await ask(id, "start");
    await here.settle();
    await here.report(id, "FAILED_ROLLBACK");
    expect(await here.statusesOf(id)).toEqual(Array(4).fill("failed_rollback"));
    expect(
      await here.db`select 1 from incidents where rollout_id = ${id} and category = 'upgrade_failed'`,
    ).toHaveLength(4);
    const refused = await ask(id, `nodes/${nodes[0]}/retry`);
    expect(refused).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    expect(refused.message).toContain("a person must look");
    expect(await ask(id, "retry")).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
  });

  const atWorkByBatch = async (id: string) =>
    (
      await here.db<{ batch_index: number; attempt_count: number; error_code: string | null }[]>`
        select batch_index, attempt_count, error_code from rollout_nodes
        where rollout_id = ${id} and status = 'in_progress' order by node_id`
    ).map(({ batch_index, attempt_count, error_code }) => [batch_index, attempt_count, error_code]);

  test("ROLL-11: a retry of every failed node launches them batch by batch, as their next attempt, before the next batch", async () => {
    const id = await create({ batch_size: 1, failure_threshold: 1 });
    await ask(id, "start");
    await here.settle();
    for (const _ of [1, 2]) await here.report(id, "FAILED");
    expect(await atWorkByBatch(id)).toEqual([[2, 1, null]]);
    expect(await ask(id, "retry", { reason: "again" })).toMatchObject({ status: 202 });
    await here.settle();
    expect(await ask(id, "retry")).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
    const seen = [];
    for (let round = 0; (await view(id)).status === "running" && round < 10; round++) {
      seen.push(...(await atWorkByBatch(id)));
      await here.report(id);
    }
    expect(seen).toEqual([
      [2, 1, null],
      [0, 2, null],
      [1, 2, null],
      [3, 1, null],
    ]);
    expect(await view(id)).toMatchObject({ status: "completed", counters: { succeeded: 4, failed: 0 } });
  });

  test("ROLL-12: a retry that would take too many nodes of a zone away waits, and a cancel leaves its nodes failed", async () => {
    const id = await create({ batch_size: 2, max_unavailable: { label: "zone", count: 1 } });
    await ask(id, "start");
    await here.settle();
    await here.report(id, "FAILED");
    const failed = await here.db<{ node_id: NodeId }[]>`
      select node_id from rollout_nodes where rollout_id = ${id} and status = 'failed'`;
    const others = nodes.filter((node) => !failed.some(({ node_id }) => node_id === node));
    await here.db`update nodes set state = 'down' where id = any(${others})`;
    await ask(id, "retry");
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
    expect(await atWorkByBatch(id)).toEqual([]);
    await here.db`update nodes set state = 'active' where id = any(${others})`;
    await ask(id, "resume");
    await here.settle();
    expect(await atWorkByBatch(id)).toEqual([
      [0, 2, null],
      [0, 2, null],
    ]);
    await here.report(id, "FAILED");
    await ask(id, "retry");
    await ask(id, "cancel");
    await here.settle();
    expect(await view(id)).toMatchObject({ status: "cancelled", counters: { failed: 2, skipped: 2 } });
    expect(await here.db`select 1 from rollout_nodes where rollout_id = ${id} and retry_requested`).toEqual(
      [],
    );
  });

  test("ROLL-11: a skip of one node says nothing about another", async () => {
    const id = await create();
    await ask(id, `nodes/${nodes[0]}/skip`);
    await ask(id, `nodes/${nodes[1]}/skip`);
    await here.settle();
    expect(await here.statusesOf(id)).toEqual(["skipped", "skipped", "pending", "pending"]);
    await ask(id, "cancel");
  });
});

test("ROLL-12: a forced rollout goes on past a failed batch, and ends failed with the counts in its reason", async () => {
  const id = await create({ batch_size: 2, force_continue: true });
  await ask(id, "start");
  await here.settle();
  await here.report(id, "FAILED");
  expect((await view(id)).status).toBe("running");
  await here.report(id);
  expect(await view(id)).toMatchObject({
    status: "failed",
    why: { code: "THRESHOLD_EXCEEDED", text: expect.stringContaining("2 of 4") as string },
    counters: { succeeded: 2, failed: 2 },
  });
});

test("ROLL-11: every signal is recorded with who, why, and whether it had an effect", async () => {
  const id = await create();
  await ask(id, "start", { reason: "tonight" });
  await ask(id, "cancel", { reason: "not tonight" }); // both unread: the second finds what the first has left
  await here.db`
    insert into rollout_signals (rollout_id, kind, actor, idempotency_key) values (${id}, 'resume', 'late', ${`${id}:late`})`;
  await here.settle();
  const rows = await here.db`
    select kind, actor, reason, applied from rollout_signals where rollout_id = ${id} order by id`;
  expect(rows).toMatchObject([
    { kind: "start", reason: "tonight", applied: true },
    { kind: "cancel", reason: "not tonight", applied: true },
    { kind: "resume", actor: "late", reason: null, applied: false },
  ]);
  expect(await view(id)).toMatchObject({ status: "cancelled", counters: { skipped: 4 } });
});

test("ROLL-11: a cancel that comes after an unread rollback is refused: it would call off the way back", async () => {
  const id = await create({ batch_size: 2 });
  await ask(id, "start");
  await here.settle();
  expect((await ask(id, "rollback")).status).toBe(202);
  expect(await ask(id, "cancel")).toMatchObject({ status: 409, code: "ILLEGAL_TRANSITION" });
});
