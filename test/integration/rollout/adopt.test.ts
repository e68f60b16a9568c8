// `node adopt` over HTTP, on real rows (ROLL-29): the record follows what the node itself measured.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { NodeId } from "../../../src/core/ids.ts";
import type { Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { upsertHeartbeats } from "../../../src/server/agents/heartbeats.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { digestLike, manualRequest, V1, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const MENDED = digestLike("7");

let here: DrivenSite;
let profile: string;
let node: NodeId;
let count = 0;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());
beforeEach(async () => {
  profile = `adopt-${++count}`;
  node = await here.addNode(`${profile}-a`, { profile });
});

async function runs(running: string | null, installed = running): Promise<void> {
  const program = {
    chain_profile_id: profile,
    application_health: "ok",
    sync_status: "synced",
    running_fingerprint: running,
    installed_fingerprint: installed,
    version: null,
    instance_id: null,
    started_at: null,
    restarts: 0,
  };
  const heartbeat = { at: new Date().toISOString(), agent_version: "1", applied: {}, last_rejection: null };
  await upsertHeartbeats(here.db, [
    { nodeId: node, heartbeat: { ...heartbeat, programs: [program] } as unknown as Heartbeat, digest: null },
  ]);
}

const adopt = (body: object = {}) =>
  here.ask("POST", `/nodes/${node}/adopt`, { reason: "mended by hand", ...body });

const refusal = async (body: object = {}) => {
  const answer = await adopt(body);
  const { code, message } = (answer.body as { error: { code: string; message: string } }).error;
  return `${code}: ${message}`;
};

async function start(): Promise<string> {
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0 });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  return id;
}

async function recorded() {
  const [row] = await here.db<{ binary_version: string; fingerprint: string }[]>`
    select binary_version, fingerprint from node_config_state where node_id = ${node}`;
  return [row!.binary_version, row!.fingerprint];
}

test("ROLL-29: bytes that a person put in are recorded with their version, and the event says who, why, before and after", async () => {
  await runs(MENDED);
  const { status, body } = await adopt({ version: "1.0.1-hotfix" });
  const before = { binary_version: "1.0.0", fingerprint: V1 };
  const after = { binary_version: "1.0.1-hotfix", fingerprint: MENDED };
  expect([status, body]).toEqual([200, { node_id: node, chain_profile_id: profile, before, after }]);
  expect(await recorded()).toEqual(["1.0.1-hotfix", MENDED]);
  const [event] =
    await here.db`select actor, data from events where kind = 'node.adopted' and node_id = ${node}`;
  expect(event).toMatchObject({ actor: expect.any(String) as string });
  expect(event!["data"]).toEqual({ chain_profile_id: profile, before, after, reason: "mended by hand" });
});

test("ROLL-29: a rollout from the adopted version takes the node, and its command names the adopted bytes", async () => {
  await runs(MENDED);
  await adopt({ version: "1.0.1" });
  const request = manualRequest({
    chain_profile_id: profile,
    source_version: "1.0.1",
    health_wait_seconds: 0,
  });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  const [assignment] =
    await here.db`select kind, current_fp, target_fp from service_assignments where node_id = ${node}`;
  expect(assignment).toMatchObject({ kind: "upgrading", current_fp: MENDED, target_fp: V2 });
});

test("ROLL-29: a node that was mended while its upgrade had failed is retried from there, and goes back to there", async () => {
  const id = await start();
  await here.report(id, "FAILED_ROLLBACK");
  expect(await here.statusesOf(id)).toEqual(["failed_rollback"]);
  expect((await here.ask("POST", `/rollouts/${id}/retry`, {})).status).toBe(409);
  await runs(MENDED);
  expect((await adopt({ version: "1.0.1" })).status).toBe(200);
  expect(await here.statusesOf(id)).toEqual(["failed"]);
  expect((await here.ask("POST", `/rollouts/${id}/retry`, {})).status).toBe(202);
  await here.settle();
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded"]);
  const [row] =
    await here.db`select previous_checksum, previous_version from rollout_nodes where rollout_id = ${id}`;
  expect(row).toMatchObject({ previous_checksum: MENDED, previous_version: "1.0.1" });
});

test("ROLL-29: a node whose own rollback failed is retried after its previous version was put back, seen by heartbeat and adopted", async () => {
  const id = await start();
  await here.report(id, "FAILED_ROLLBACK");
  await runs(V1);
  await here.settle();
  expect(await here.db`select 1 from unsettled_nodes where node_id = ${node}`).toHaveLength(0);
  expect(await here.statusesOf(id)).toEqual(["failed_rollback"]);
  expect((await adopt({ version: "1.0.0" })).status).toBe(200);
  expect((await here.ask("POST", `/rollouts/${id}/retry`, {})).status).toBe(202);
  await here.settle();
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded"]);
});

test("ROLL-29: bytes that the site rolled out are recorded under the version it knows, and its assignment is settled", async () => {
  const id = await start();
  await here.report(id, "FAILED_ROLLBACK");
  await runs(V2);
  await here.db`delete from snapshot_dirty`;
  expect(await refusal({ version: "9.9.9" })).toContain("INVALID_INPUT: version: ");
  expect((await adopt()).body).toMatchObject({ after: { binary_version: "2.0.0", fingerprint: V2 } });
  const [assignment] = await here.db`
    select kind, current_fp, target_fp, rollback_fp from service_assignments where node_id = ${node}`;
  expect(assignment).toMatchObject({ kind: "settled", current_fp: null, target_fp: V2, rollback_fp: V1 });
  expect(await here.db`select 1 from unsettled_nodes where node_id = ${node}`).toHaveLength(0);
  const [row] = await here.db`select stands from rollout_nodes where rollout_id = ${id}`;
  expect(row).toMatchObject({ stands: "target" });
  expect(
    await here.db`
    select 1 from snapshot_dirty where node_id = ${node} and scope_type = 'service_assignment'`,
  ).toHaveLength(1);
});

test("ROLL-29: a rollback leaves out a succeeded node that was adopted on other bytes since, and opens no incident", async () => {
  const other = await here.addNode(`${profile}-b`, { profile });
  const id = await start();
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded", "succeeded"]);
  await runs(MENDED);
  expect((await adopt({ version: "2.0.1" })).status).toBe(200);
  expect((await here.ask("POST", `/rollouts/${id}/rollback`, {})).status).toBe(202);
  await here.settle();
  expect(await here.statusesOf(id)).toEqual(["succeeded", "in_progress"]);
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["succeeded", "rolled_back"]);
  expect(await here.db`select 1 from incidents where node_id in (${node}, ${other})`).toHaveLength(0);
  expect(await recorded()).toEqual(["2.0.1", MENDED]);
});

test("ROLL-29: a rollback is refused when its only node was adopted on other bytes", async () => {
  const id = await start();
  await here.report(id);
  await runs(MENDED);
  await adopt({ version: "2.0.1" });
  expect((await here.ask("POST", `/rollouts/${id}/rollback`, {})).status).toBe(409);
});

test("ROLL-29: a succeeded node that was adopted on the rollout's own target is still rolled back", async () => {
  const id = await start();
  await here.report(id);
  await runs(V2);
  expect((await adopt()).status).toBe(200);
  expect((await here.ask("POST", `/rollouts/${id}/rollback`, {})).status).toBe(202);
  await here.settle();
  await here.report(id);
  expect(await here.statusesOf(id)).toEqual(["rolled_back"]);
});

test("ROLL-29: an adoption beside a step of the node's rollout waits for the step, without a deadlock", async () => {
  const id = await start();
  await here.report(id, "FAILED_ROLLBACK");
  await runs(V2);
  let adoption: ReturnType<typeof adopt> | undefined;
  // The lock order of a step: the rollout, its node rows, the nodes.
  await here.db.begin(async (tx) => {
    await tx`select 1 from rollouts where id = ${id} for update`;
    await tx`update rollout_nodes set progress_pct = 1 where rollout_id = ${id}`;
    adoption = adopt();
    await eventually("the adoption waits for a lock", async () => {
      const waiting = await here.db`
        select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      return waiting.length > 0;
    });
    await tx`select 1 from nodes where id = ${node} for no key update`;
  });
  expect((await adoption!).status).toBe(200);
  const [row] = await here.db`select stands from rollout_nodes where rollout_id = ${id}`;
  expect(row).toMatchObject({ stands: "target" });
});

test("ROLL-29: bytes that nobody rolled out need a version", async () => {
  await runs(MENDED);
  expect(await refusal()).toContain("INVALID_INPUT: version: no rollout of");
  expect(await recorded()).toEqual(["1.0.0", V1]);
});

test("ROLL-29: an adoption says why", async () => {
  await runs(V1);
  expect((await here.ask("POST", `/nodes/${node}/adopt`, {})).status).toBe(400);
  expect((await adopt({ reason: "" })).status).toBe(400);
});

test.each([
  ["has never been heard of", async () => undefined, "never been heard of"],
  ["runs nothing", () => runs(null, MENDED), "nothing of profile"],
  ["runs other bytes than are installed", () => runs(V1, MENDED), "restart the program first"],
  [
    "is silent",
    async () => {
      await runs(MENDED);
      await here.db`update node_heartbeats set received_at = now() - interval '10 minutes' where node_id = ${node}`;
    },
    "the node is silent: its last heartbeat is 600 s old",
  ],
  [
    "is revoked",
    async () => {
      await runs(MENDED);
      await here.db`update nodes set revoked_at = now() where id = ${node}`;
    },
    "the node is revoked",
  ],
  [
    "is at work",
    async () => {
      await start();
      await runs(MENDED);
    },
    "an upgrade of",
  ],
])("ROLL-29: a node that %s is not adopted", async (_, prepare, reason) => {
  await prepare();
  expect(await refusal({ version: "1.0.1" })).toContain("ADOPT_REFUSED");
  expect(await refusal({ version: "1.0.1" })).toContain(reason);
  expect(await recorded()).toEqual(["1.0.0", V1]);
});

test("ROLL-29: a profile that the node does not report is not adopted", async () => {
  await runs(MENDED);
  expect(await refusal({ version: "1.0.1", chain_profile_id: "another" })).toContain(
    "has no program of profile another",
  );
});
