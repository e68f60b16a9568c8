// What operators had asked for when a backup was made, and what the site that is restored from it makes of it.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { Heartbeat } from "../../../src/core/protocol/agent-api.ts";
import { upsertHeartbeats } from "../../../src/server/agents/heartbeats.ts";
import { leaveThePast } from "../../../src/server/backup/leave-the-past.ts";
import { findOverdue } from "../../../src/server/drive/sweep.ts";
import { manualRequest, V1 } from "../../support/server/creation-site.ts";
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

async function finish(profile: string): Promise<string> {
  await here.addNode(profile, { profile });
  const { id } = (await here.ask("POST", "/rollouts", { ...rolloutOf(profile), health_wait_seconds: 0 }))
    .body as { id: string };
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  return id;
}

const runningHeartbeat = (chain_profile_id: string, fingerprint: string) =>
  ({
    at: new Date().toISOString(),
    agent_version: "1",
    applied: {},
    last_rejection: null,
    programs: [
      {
        chain_profile_id,
        application_health: "ok",
        sync_status: "synced",
        running_fingerprint: fingerprint,
        installed_fingerprint: fingerprint,
        version: null,
        instance_id: null,
        started_at: null,
        restarts: 0,
      },
    ],
  }) as unknown as Heartbeat;

const nodeOf = async (id: string) => {
  const [row] = await here.db`
    select rn.status, rn.stands, rn.retry_requested, rn.error_code,
      exists (select 1 from unsettled_nodes u where u.rollout_id = rn.rollout_id and u.node_id = rn.node_id) as unsettled
    from rollout_nodes rn where rn.rollout_id = ${id}`;
  return row;
};

test("USE-5: a node that was rolled back while the backup was made is unsettled after the restore, until a heartbeat shows its version", async () => {
  const id = await finish("returning");
  await here.report(id);
  expect(await here.ask("POST", `/rollouts/${id}/rollback`, {})).toMatchObject({ status: 202 });
  await here.settle();
  expect(await here.statusesOf(id)).toEqual(["in_progress"]);
  const [work] = await here.db<
    { node_id: NodeId }[]
  >`select node_id from rollout_nodes where rollout_id = ${id}`;

  await here.db.begin((tx) => leaveThePast(tx, Date.now()));
  expect(await nodeOf(id)).toMatchObject({
    status: "failed",
    stands: "unknown",
    unsettled: true,
    error_code: "SITE_RESTORED",
  });

  await upsertHeartbeats(here.db, [
    { nodeId: work!.node_id, heartbeat: runningHeartbeat("returning", V1), digest: null },
  ]);
  await here.settle();
  expect(await nodeOf(id)).toMatchObject({ status: "failed", stands: "previous", unsettled: false });
});

test("USE-5: a retry that was noted when the backup was made is not carried out by the restored site", async () => {
  const id = await finish("retried");
  await here.report(id, "FAILED");
  expect(await here.ask("POST", `/rollouts/${id}/retry`, {})).toMatchObject({ status: 202 });
  await here.step(id as RolloutId); // notes the retry, which the next step launches
  expect(await nodeOf(id)).toMatchObject({ status: "failed", retry_requested: true });

  await here.db.begin((tx) => leaveThePast(tx, Date.now()));
  await here.settle();
  expect(await nodeOf(id)).toMatchObject({ status: "failed", retry_requested: false });
});
