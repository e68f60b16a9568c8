// Nodes that were given up and are heard of again, on real rows (ROLL-29).
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CommandId, NodeId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import type { Heartbeat, UpgradeReport } from "../../../src/core/protocol/agent-api.ts";
import { CommandHeader } from "../../../src/core/protocol/command.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { upsertHeartbeats } from "../../../src/server/agents/heartbeats.ts";
import { createReportStore } from "../../../src/server/agents/reports.ts";
import { findOverdue } from "../../../src/server/drive/sweep.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { digestLike, manualRequest, V1, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

interface Node {
  readonly node_id: NodeId;
  readonly command_id: CommandId;
}

interface Site {
  readonly id: RolloutId;
  readonly profile: ProfileId;
  readonly nodes: readonly Node[];
}

/** Two nodes in one batch, both given up without a word. */
async function givenUp(
  profile: string,
  changes: object = {},
  before: () => Promise<void> = async () => undefined,
): Promise<Site> {
  for (const name of ["a", "b"]) await here.addNode(`${profile}-${name}`, { profile });
  await before();
  const request = { chain_profile_id: profile, batch_size: 2, health_wait_seconds: 0, ...changes };
  const { id } = (await here.ask("POST", "/rollouts", manualRequest(request))).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  await here.db`update rollout_nodes set launched_at = now() - interval '1 hour' where rollout_id = ${id}`;
  await here.settle();
  expect(await here.statusesOf(id)).toEqual(["failed", "failed"]);
  const nodes = await here.db<Node[]>`
    select rn.node_id, rn.command_id from rollout_nodes rn join nodes n on n.id = rn.node_id
    where rn.rollout_id = ${id} order by n.name`;
  return { id, profile: profile as ProfileId, nodes };
}

const heartbeat = ({ profile }: Site, fingerprint: string | null): Heartbeat =>
  ({
    at: new Date().toISOString(),
    agent_version: "0.1.0",
    applied: {},
    programs: [
      {
        chain_profile_id: profile,
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
    last_rejection: null,
  }) as Heartbeat;

async function beats(site: Site, fingerprint: string | null, nodes = site.nodes): Promise<void> {
  const items = nodes.map(({ node_id }) => ({
    nodeId: node_id,
    heartbeat: heartbeat(site, fingerprint),
    digest: null,
  }));
  await upsertHeartbeats(here.db, items);
}

async function verdict(
  site: Site,
  node: Node,
  kind: "COMPLETED" | "FAILED",
  fingerprint: string,
): Promise<void> {
  const at = new Date().toISOString();
  const error = kind === "COMPLETED" ? null : "ACTION_TIMEOUT";
  const body = {
    kind: "verdict",
    verdict: kind,
    error_code: error,
    error_message: error,
    started_at: at,
    ended_at: at,
  };
  const report = { report_id: randomUUID(), command_id: node.command_id, at, body } as UpgradeReport;
  const store = createReportStore(here.db, () => undefined);
  await store({
    nodeId: node.node_id,
    request: { reports: [report], heartbeat: heartbeat(site, fingerprint) },
  });
}

const recorded = async ({ profile }: Site) => {
  const rows = await here.db<{ fingerprint: string; binary_version: string }[]>`
    select s.fingerprint, s.binary_version from node_config_state s join nodes n on n.id = s.node_id
    where s.chain_profile_id = ${profile} order by n.name`;
  return rows.map(({ fingerprint, binary_version }) => [binary_version, fingerprint]);
};
const assigned = async ({ profile }: Site) => {
  const rows = await here.db<
    { kind: string; current_fp: string | null; target_fp: string; rollback_fp: string | null }[]
  >`
    select sa.kind, sa.current_fp, sa.target_fp, sa.rollback_fp from service_assignments sa join nodes n on n.id = sa.node_id
    where sa.chain_profile_id = ${profile} order by n.name`;
  return rows.map(({ kind, current_fp, target_fp, rollback_fp }) => [
    kind,
    current_fp,
    target_fp,
    rollback_fp,
  ]);
};
const outcomes = async ({ id }: Site): Promise<string[]> => {
  const rows = await here.db<{ outcome: string }[]>`
    select outcome from upgrade_reports where rollout_id = ${id} order by id`;
  return rows.map(({ outcome }) => outcome);
};
const isOverdue = async ({ id }: Site) => (await findOverdue(here.db)).some((each) => each.id === id);
const ask = async ({ id }: Site, signal: string) => {
  const answer = await here.ask("POST", `/rollouts/${id}/${signal}`, {});
  await here.settle();
  return answer;
};
const unsettled = async ({ id }: Site) =>
  (await here.db`select 1 from unsettled_nodes where rollout_id = ${id}`).length;

test("ROLL-29: a late verdict with a heartbeat settles a node whose stored state is still down as succeeded", async () => {
  const site = await givenUp("still-down");
  const ids = site.nodes.map(({ node_id }) => node_id);
  await here.db`update nodes set state = 'down' where id = any(${ids})`;
  for (const node of site.nodes) await verdict(site, node, "COMPLETED", V2);
  await here.settle();
  expect(await here.statusesOf(site.id)).toEqual(["succeeded", "succeeded"]);
});

test("ROLL-29: verdicts that come after an outage settle nodes that were given up, and a resume completes", async () => {
  const site = await givenUp("outage");
  expect((await here.ask("GET", `/rollouts/${site.id}`)).body).toMatchObject({ status: "paused" });
  for (const node of site.nodes) await verdict(site, node, "COMPLETED", V2);
  await here.settle();
  expect(await here.statusesOf(site.id)).toEqual(["succeeded", "succeeded"]);
  expect(await recorded(site)).toEqual([
    ["2.0.0", V2],
    ["2.0.0", V2],
  ]);
  expect(await assigned(site)).toEqual([
    ["settled", null, V2, V1],
    ["settled", null, V2, V1],
  ]);
  expect(await outcomes(site)).toEqual(["applied", "applied"]);
  await ask(site, "resume");
  expect((await here.ask("GET", `/rollouts/${site.id}`)).body).toMatchObject({
    status: "completed",
    counters: { succeeded: 2, failed: 0 },
  });
  expect(await unsettled(site)).toBe(0);
});

test("ROLL-29: a verdict settles a node whose heartbeat showed the previous version while its program was being stopped", async () => {
  const profile = "stopping";
  const V3 = digestLike("3");
  const changes = { source_version: "2.0.0", target_version: "3.0.0", target_binary_checksum: V3 };
  const site = await givenUp(profile, changes, async () => {
    const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0 });
    const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
    await here.ask("POST", `/rollouts/${id}/start`, {});
    await here.settle();
    await here.report(id);
    expect(await here.statusesOf(id)).toEqual(["succeeded", "succeeded"]);
  });
  await beats(site, V2);
  await here.step(site.id);
  const [first, second] = site.nodes;
  await verdict(site, first!, "COMPLETED", V3);
  await verdict(site, second!, "FAILED", V2);
  await here.settle();
  expect(await outcomes(site)).toEqual(["applied", "applied"]);
  expect(await here.statusesOf(site.id)).toEqual(["succeeded", "failed"]);
  expect(await recorded(site)).toEqual([
    ["3.0.0", V3],
    ["2.0.0", V2],
  ]);
  // The second node changed nothing: it can again go back to the version before the earlier rollout.
  expect(await assigned(site)).toEqual([
    ["settled", null, V3, V2],
    ["settled", null, V2, V1],
  ]);
});

test("ROLL-29: a verdict that comes after the rollout ended settles the recorded version, and the ending stays", async () => {
  const site = await givenUp("ended");
  await ask(site, "cancel");
  const [first, second] = site.nodes;
  await verdict(site, first!, "COMPLETED", V2);
  await verdict(site, second!, "FAILED", V1);
  for (const { id } of await findOverdueSoon(site)) await here.step(id as RolloutId);
  expect(await here.statusesOf(site.id)).toEqual(["succeeded", "failed"]);
  expect(await recorded(site)).toEqual([
    ["2.0.0", V2],
    ["1.0.0", V1],
  ]);
  expect((await here.ask("GET", `/rollouts/${site.id}`)).body).toMatchObject({ status: "cancelled" });
});

async function findOverdueSoon(site: Site) {
  await here.db`update upgrade_reports set created_at = now() - interval '5 seconds' where rollout_id = ${site.id}`;
  return (await findOverdue(here.db)).filter(({ id }) => id === site.id);
}

test("ROLL-29: a verdict of a node that a later rollout has launched is answered, and changes no record", async () => {
  const site = await givenUp("later");
  await ask(site, "cancel");
  const next = manualRequest({
    chain_profile_id: site.profile,
    batch_size: 2,
    target_binary_checksum: digestLike("3"),
  });
  const { id } = (await here.ask("POST", "/rollouts", next)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  await verdict(site, site.nodes[0]!, "COMPLETED", V2);
  await here.step(site.id);
  expect(await outcomes(site)).toEqual(["superseded"]);
  expect(await recorded(site)).toEqual([
    ["1.0.0", V1],
    ["1.0.0", V1],
  ]);
  const events =
    await here.db`select data from events where kind = 'node.report' and rollout_id = ${site.id}`;
  expect(events).toMatchObject([{ data: { verdict: "COMPLETED", outcome: "superseded" } }]);
});

test("ROLL-29: the sweep finds nodes that were given up and say by heartbeat what they run", async () => {
  const site = await givenUp("measured");
  const [first, second] = site.nodes;
  expect(await isOverdue(site)).toBe(false);
  await beats(site, null);
  expect(await isOverdue(site)).toBe(false);
  await beats(site, digestLike("9"));
  expect(await isOverdue(site)).toBe(false);
  await beats(site, V2, [first!]);
  await beats(site, V1, [second!]);
  expect(await isOverdue(site)).toBe(true);
  await here.step(site.id);
  expect(await recorded(site)).toEqual([
    ["2.0.0", V2],
    ["1.0.0", V1],
  ]);
  expect(await assigned(site)).toEqual([
    ["settled", null, V2, V1],
    ["settled", null, V1, null],
  ]);
  expect(await here.statusesOf(site.id)).toEqual(["failed", "failed"]);
  expect(await isOverdue(site)).toBe(false);
  // Without its verdict it may still be at work: what it runs is followed.
  await beats(site, V1, [first!]);
  expect(await isOverdue(site)).toBe(true);
  await here.step(site.id);
  expect((await recorded(site))[0]).toEqual(["1.0.0", V1]);
  await verdict(site, first!, "FAILED", V1);
  await verdict(site, second!, "FAILED", V1);
  await here.step(site.id);
  expect(await unsettled(site)).toBe(0);
});

test("ROLL-29: a retry of a node that runs the target begins from there, and the others from what is recorded", async () => {
  const site = await givenUp("again");
  await beats(site, V2, [site.nodes[0]!]);
  await ask(site, "retry");
  expect(await assigned(site)).toEqual([
    ["upgrading", V2, V2, null],
    ["upgrading", V1, V2, null],
  ]);
  await here.report(site.id);
  expect(await here.statusesOf(site.id)).toEqual(["succeeded", "succeeded"]);
});

test("ROLL-14: a rollback takes back nodes that were given up and run the new version", async () => {
  const site = await givenUp("back");
  await beats(site, V2);
  await ask(site, "rollback");
  expect(await here.statusesOf(site.id)).toEqual(["in_progress", "in_progress"]);
  expect(await assigned(site)).toEqual([
    ["upgrading", V2, V1, null],
    ["upgrading", V2, V1, null],
  ]);
  await here.report(site.id);
  expect(await here.statusesOf(site.id)).toEqual(["rolled_back", "rolled_back"]);
  expect(await recorded(site)).toEqual([
    ["1.0.0", V1],
    ["1.0.0", V1],
  ]);
});

test("ROLL-14: nodes that succeed in the step that rolls them back are assigned their way back", async () => {
  const profile = "at-once";
  await here.addNode("at-once-a", { profile });
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0 });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  await here.ask("POST", `/rollouts/${id}/rollback`, {});
  await here.report(id);
  const site = { id, profile: profile as ProfileId, nodes: [] };
  expect(await assigned(site)).toEqual([["upgrading", V2, V1, null]]);
  const [sent] = await here.db<{ frame: Buffer; version: number }[]>`
    select c.frame, s.config_version as version
    from commands c join snapshots s on s.node_id = c.node_id and s.scope_type = 'service_assignment'
    where c.rollout_id = ${id} order by c.sequence desc limit 1`;
  const header = CommandHeader.parse(JSON.parse(decodeFrame(sent!.frame).header.toString("utf8")));
  expect(header.assignment_config_version).toBe(sent!.version);
});

test("ROLL-14: a rollback that ended before a node was heard of is asked for again when it runs the new version", async () => {
  const site = await givenUp("twice");
  await ask(site, "rollback");
  const ended = (await here.ask("GET", `/rollouts/${site.id}`)).body as RolloutView;
  expect(ended).toMatchObject({ status: "rolled_back" });
  expect(ended.why!.text).toContain("2 have not said what they run");
  expect((await ask(site, "rollback")).body).toMatchObject({ error: { code: "ROLLBACK_REFUSED" } });
  await beats(site, V2);
  await here.step(site.id);
  expect((await ask(site, "rollback")).status).toBe(202);
  await here.report(site.id);
  expect(await here.statusesOf(site.id)).toEqual(["rolled_back", "rolled_back"]);
  expect((await ask(site, "rollback")).body).toMatchObject({ error: { code: "NOTHING_TO_ROLL_BACK" } });
});
