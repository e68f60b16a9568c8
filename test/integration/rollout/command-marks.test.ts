// Command sequences on a real database: a node's claim moves none of them, a root-signed epoch leaves a gap in all.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { createDeliveryFinder } from "../../../src/server/agents/deliveries.ts";
import { findCommands } from "../../../src/server/agents/waiting.ts";
import { leaveSequenceGap } from "../../../src/server/rollout/sequence-gap.ts";
import { createBundleReader } from "../../../src/server/snapshots/bundles.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

async function created(profile: string, nodes: number, changes: object = {}) {
  const ids: NodeId[] = [];
  for (let n = 0; n < nodes; n++) ids.push(await here.addNode(`${profile}-${n}`, { profile }));
  const request = manualRequest({
    chain_profile_id: profile,
    batch_size: nodes,
    failure_threshold: 1,
    health_wait_seconds: 0,
    ...changes,
  });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  return { id, ids };
}

const start = async (id: RolloutId) => {
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
};

async function sequenceOf(id: NodeId): Promise<number> {
  const [row] = await here.db<{ sequence: number }[]>`
    select command_sequence as sequence from nodes where id = ${id}`;
  return row!.sequence;
}

test("SNAP-16: a poll that claims the highest mark raises no sequence, and the node still gets its commands", async () => {
  const { id, ids } = await created("liar", 2);
  const [liar, other] = ids;
  const find = createDeliveryFinder(
    here.db,
    createBundleReader(here.db, () => performance.now()),
    here.authority,
  );
  const claim = { have: {}, serials: {}, headIssuedAt: null, resync: [], mark: Number.MAX_SAFE_INTEGER };
  await find({ nodeId: liar!, ...claim });
  expect(await sequenceOf(liar!)).toBe(0);
  await start(id);
  const { answer } = await find({ nodeId: liar!, ...claim });
  expect(answer!.commands).toHaveLength(1);
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded", "succeeded"]);
  expect([await sequenceOf(liar!), await sequenceOf(other!)]).toEqual([1, 1]);
});

test("SNAP-16: a node gets no command at or below an honest mark", async () => {
  const { id, ids } = await created("honest", 1);
  await start(id);
  const [nodeId] = ids;
  const at = async (mark: number) =>
    (await findCommands(here.db, [{ nodeId: nodeId!, mark, serials: {} }])).size;
  expect([await at(0), await at(1)]).toEqual([1, 0]);
});

test("SNAP-11: a new epoch leaves a gap in every node's sequence, wider than what a lost database may have issued", async () => {
  const id = await here.addNode("gap-1", { profile: "gap" });
  await here.db`update nodes set command_sequence = 7 where id = ${id}`;
  await here.db.begin(leaveSequenceGap);
  expect(await sequenceOf(id)).toBe(7 + LIMITS.commandSequenceGap);
});

test("ROLL-29: a node whose launch fails is marked with the cause, and the others of its batch go on", async () => {
  const { id, ids } = await created("collides", 3);
  await here.db`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    values (gen_random_uuid(), ${ids[1]!}, ${id}, 1, '', now())`;
  await start(id);
  expect(await here.statusesOf(id)).toEqual(["in_progress", "failed", "in_progress"]);
  const [row] = await here.db`
    select rn.error_code, rn.error_message, n.state, n.command_sequence from rollout_nodes rn join nodes n on n.id = rn.node_id
    where rn.rollout_id = ${id} and rn.node_id = ${ids[1]!}`;
  expect(row).toMatchObject({ error_code: "NODE_STEP_FAILED", state: "active", command_sequence: 0 });
  expect(row!["error_message"]).toContain("commands_node_id_sequence_key");
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded", "failed", "succeeded"]);
  const { body } = await here.ask("GET", `/rollouts/${id}`);
  expect(body).toMatchObject({ status: "completed", counters: { succeeded: 2, failed: 1 } });
});

test("ROLL-29: a rollout whose only launch fails pauses, takes a retry once the cause is gone, and ends", async () => {
  const { id, ids } = await created("alone", 1, { failure_threshold: 0 });
  await here.db`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    values (gen_random_uuid(), ${ids[0]!}, ${id}, 1, '', now())`;
  await start(id);
  expect((await here.ask("GET", `/rollouts/${id}`)).body).toMatchObject({ status: "paused" });
  await here.db`update nodes set command_sequence = 1 where id = ${ids[0]!}`;
  await here.ask("POST", `/rollouts/${id}/retry`, {});
  await here.settle();
  await here.report(id);
  await here.ask("POST", `/rollouts/${id}/resume`, {});
  await here.settle();
  expect((await here.ask("GET", `/rollouts/${id}`)).body).toMatchObject({ status: "completed" });
});

test("ROLL-29: a retry whose launch fails again ends with the failure, and the rollout comes to rest", async () => {
  const { id, ids } = await created("still-alone", 1, { failure_threshold: 0 });
  await here.db`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    values (gen_random_uuid(), ${ids[0]!}, ${id}, 1, '', now())`;
  await start(id);
  await here.db`
    update rollout_nodes set silent_since = now(), waiting_for = 'another' where rollout_id = ${id}`;
  expect((await here.ask("POST", `/rollouts/${id}/retry`, {})).status).toBe(202);
  await here.settle();
  const [row] = await here.db`
    select status, error_code, retry_requested, silent_since, waiting_for from rollout_nodes where rollout_id = ${id}`;
  expect(row).toEqual({
    status: "failed",
    error_code: "NODE_STEP_FAILED",
    retry_requested: false,
    silent_since: null,
    waiting_for: null,
  });
  expect((await here.ask("GET", `/rollouts/${id}`)).body).toMatchObject({ status: "paused" });
  expect((await here.ask("POST", `/rollouts/${id}/retry`, {})).status).toBe(202);
  await here.settle();
});

test("ROLL-29: a way back that cannot be launched is failed_rollback with an incident, and the rest goes back", async () => {
  const { id, ids } = await created("no-way-back", 2);
  await start(id);
  await here.report(id);
  await here.db`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    values (gen_random_uuid(), ${ids[0]!}, ${id}, 2, '', now())`;
  await here.ask("POST", `/rollouts/${id}/rollback`, {});
  await here.settle();
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["failed_rollback", "rolled_back"]);
  expect((await here.ask("GET", `/rollouts/${id}`)).body).toMatchObject({ status: "rolled_back" });
  const incidents = await here.db`select category, severity from incidents where node_id = ${ids[0]!}`;
  expect(incidents).toMatchObject([{ category: "upgrade_rollback_failed", severity: "critical" }]);
});

test("ROLL-29: an unhealthy node whose way back cannot be launched does not stay in maintenance", async () => {
  const { id, ids } = await created("stuck", 1);
  await start(id);
  await here.db`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    values (gen_random_uuid(), ${ids[0]!}, ${id}, 2, '', now())`;
  await here.report(id, "COMPLETED", { application_health: "critical" });
  expect(await here.statusesOf(id)).toEqual(["failed_rollback"]);
  const [profile] = await here.db`select state from node_profiles where node_id = ${ids[0]!}`;
  expect(profile).toMatchObject({ state: "degraded" });
});

test("ROLL-29: a node that cannot be settled is failed with an unknown version, and the others are settled", async () => {
  const { id, ids } = await created("unsettled", 2);
  await start(id);
  await here.db`
    alter table node_config_state add constraint refuses_one check (node_id <> ${here.db.unsafe(`'${ids[0]!}'`)} or binary_version = '1.0.0')`;
  await here.report(id);
  await here.db`alter table node_config_state drop constraint refuses_one`;
  expect(await here.statusesOf(id)).toEqual(["failed", "succeeded"]);
  const rows = await here.db<{ binary_version: string }[]>`
    select s.binary_version from node_config_state s join nodes n on n.id = s.node_id
    where s.chain_profile_id = 'unsettled' order by n.name`;
  expect(rows.map((row) => row.binary_version)).toEqual(["1.0.0", "2.0.0"]);
});
