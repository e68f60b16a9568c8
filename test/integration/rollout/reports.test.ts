// Reports as rows on a real database: each is stored once, and counts for the node alone that its command was sent to.

import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ProfileId, type CommandId, type NodeId } from "../../../src/core/ids.ts";
import { NodeUpgradeList, type RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { progressAt, UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { createReportStore, type StoreReports } from "../../../src/server/agents/reports.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
let store: StoreReports;
let rolloutId: string;
let commands: { node_id: NodeId; command_id: CommandId }[];
let count = 0;

beforeAll(async () => {
  here = await startDrivenSite();
  store = createReportStore(here.db, () => undefined);
});
afterAll(() => here.stop());
beforeEach(async () => {
  const profile = `reports-${++count}`;
  for (const name of ["a", "b"]) await here.addNode(`${profile}-${name}`, { profile });
  const request = manualRequest({ chain_profile_id: profile, batch_size: 2 });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  rolloutId = id;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  commands =
    await here.db`select node_id, command_id from commands where rollout_id = ${id} order by node_id`;
  expect(commands).toHaveLength(2);
});

const NO_ERROR = { error_code: null, error_message: null };
const refusalOf = (command_id: CommandId, report_id: string = randomUUID()) => {
  const at = new Date().toISOString();
  const rejection = { code: "COMMAND_EXPIRED", subject: "command", reason: "too late", at };
  return {
    reports: [{ report_id, command_id, at, body: { kind: "refused" as const, rejection } }],
    heartbeat: null,
  };
};
const rejectionsOf = (node: NodeId) =>
  here.db`select 1 from events where kind = 'node.rejection' and node_id = ${node}`;
const answered = (command: CommandId) =>
  here.db`select 1 from commands where command_id = ${command} and answered_at is not null`;

test("ROLL-6: a refusal that is delivered twice is one report and one event", async () => {
  const [first] = commands;
  const request = refusalOf(first!.command_id);
  await store({ nodeId: first!.node_id, request });
  await store({ nodeId: first!.node_id, request });
  expect(await rejectionsOf(first!.node_id)).toHaveLength(1);
  expect(await answered(first!.command_id)).toHaveLength(1);
});

test("ROLL-6: a report that the database refuses fails alone: one of another node in the same batch is stored", async () => {
  const [first, second] = commands;
  const bad = refusalOf(first!.command_id);
  const [report] = bad.reports;
  report!.body.rejection.reason = "a\0b"; // as if the edge had let it through
  const [refused, stored] = await Promise.allSettled([
    store({ nodeId: first!.node_id, request: bad }),
    store({ nodeId: second!.node_id, request: refusalOf(second!.command_id) }),
  ]);
  expect([refused.status, stored.status]).toEqual(["rejected", "fulfilled"]);
  expect(await rejectionsOf(first!.node_id)).toHaveLength(0);
  expect(await rejectionsOf(second!.node_id)).toHaveLength(1);
});

test("SNAP-16: a report about another node's command changes nothing", async () => {
  const [first, second] = commands;
  await store({ nodeId: second!.node_id, request: refusalOf(first!.command_id) });
  expect(await answered(first!.command_id)).toHaveLength(0);
  expect(await rejectionsOf(second!.node_id)).toHaveLength(0);
});

test("ROLL-7: how far a node has come is told over HTTP, with the index, the name and the progress of its action", async () => {
  const [first] = commands;
  const at = new Date().toISOString();
  const body = { kind: "progress" as const, progress: progressAt(4) };
  const reports = [{ report_id: randomUUID(), command_id: first!.command_id, at, body }];
  await store({ nodeId: first!.node_id, request: { reports, heartbeat: null } });
  await here.settle();
  const answer = await here.ask("GET", `/rollouts/${rolloutId}/nodes`);
  const nodes = NodeUpgradeList.parse(answer.body).nodes.map((node) => ({
    isFirst: node.node_id === first!.node_id,
    told: [node.upgrade_phase, node.action_index, node.action_name, node.progress_pct],
  }));
  expect(nodes).toHaveLength(2);
  expect(nodes).toContainEqual({ isFirst: true, told: ["MUTATING", 4, "install_artifact", 50] });
  expect(nodes).toContainEqual({ isFirst: false, told: ["PREPARING", null, null, 0] });
});

test("ROLL-6: of what comes in one request, how far a command had come is not kept beside its verdict", async () => {
  const [first, second] = commands;
  const at = new Date().toISOString();
  const news = (command_id: CommandId, action: number) => ({
    report_id: randomUUID(),
    command_id,
    at,
    body: { kind: "progress" as const, progress: progressAt(action) },
  });
  const { reports: verdict } = refusalOf(first!.command_id);
  const reports = [news(first!.command_id, 1), news(first!.command_id, 2), ...verdict];
  await store({ nodeId: first!.node_id, request: { reports, heartbeat: null } });
  const early = { reports: [news(second!.command_id, 1), news(second!.command_id, 2)], heartbeat: null };
  await store({ nodeId: second!.node_id, request: early });
  expect(await kept(first!)).toEqual([["refused", null]]);
  expect(await kept(second!)).toEqual([["progress", progressAt(2).action_name]]);
});

test("ROLL-6: a thousand reports about one command are as many rows and events as it has actions, and one verdict", async () => {
  const [first] = commands;
  const { command_id, node_id } = first!;
  const before = await eventsOf(node_id);
  const body = (index: number) => {
    const at = new Date().toISOString();
    if (index % 10 < 8) return { kind: "progress" as const, progress: progressAt(index % 10) };
    const verdict = index % 10 === 8 ? ("COMPLETED" as const) : ("FAILED" as const);
    return { kind: "verdict" as const, verdict, ...NO_ERROR, started_at: at, ended_at: at };
  };
  for (let sent = 0; sent < 1_000; sent += 50) {
    const reports = Array.from({ length: 50 }, (_, index) => ({
      report_id: randomUUID(),
      command_id,
      at: new Date().toISOString(),
      body: body(sent + index),
    }));
    const requests = reports.map((report) => ({
      nodeId: node_id,
      request: { reports: [report], heartbeat: null },
    }));
    await Promise.all(requests.map(async (request) => store(request)));
    await here.settle();
  }
  const rows = await kept(first!);
  expect(rows.filter(([kind]) => kind === "verdict")).toHaveLength(1);
  expect(rows.length).toBeLessThanOrEqual(UPGRADE_ACTIONS.length + 1);
  expect((await eventsOf(node_id)) - before).toBeLessThanOrEqual(UPGRADE_ACTIONS.length + 1);
});

test("ROLL-6: of two verdicts about one command that wait for its row at once, on two replicas, one counts", async () => {
  const other = createReportStore(here.db, () => undefined);
  const [{ command_id, node_id }] = commands as [(typeof commands)[number]];
  const stores = [store, other];
  const stored: Promise<unknown>[] = [];
  await here.db.begin(async (tx) => {
    await tx`select 1 from commands where command_id = ${command_id} for update`;
    for (const each of stores) stored.push(each({ nodeId: node_id, request: refusalOf(command_id) }));
    await eventually("both wait for the command's row", async () => {
      const waiting = await here.db`
        select 1 from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%upgrade_reports%'`;
      return waiting.length === stores.length;
    });
  });
  await Promise.all(stored);
  expect(await kept({ command_id })).toEqual([["refused", null]]);
  expect(await rejectionsOf(node_id)).toHaveLength(1);
  expect(await answered(command_id)).toHaveLength(1);
});

test("ROLL-7: progress that arrives after later progress or after the verdict is not stored", async () => {
  const [first] = commands;
  const { command_id, node_id } = first!;
  const progress = (index: number) => ({
    reports: [
      {
        report_id: randomUUID(),
        command_id,
        at: new Date().toISOString(),
        body: { kind: "progress" as const, progress: progressAt(index) },
      },
    ],
    heartbeat: null,
  });
  for (const index of [2, 1, 4]) await store({ nodeId: node_id, request: progress(index) });
  await store({ nodeId: node_id, request: refusalOf(command_id) });
  await store({ nodeId: node_id, request: progress(6) });
  expect(await kept(first!)).toEqual([
    ["progress", progressAt(2).action_name],
    ["progress", progressAt(4).action_name],
    ["refused", null],
  ]);
});

test("ROLL-7: beside a verdict of failure it is kept at which action the command ended, also in one request", async () => {
  const [, second] = commands;
  const at = new Date().toISOString();
  const failed = {
    kind: "verdict" as const,
    verdict: "FAILED" as const,
    error_code: "ACTION_FAILED",
    error_message: "it did not start",
    started_at: at,
    ended_at: at,
  };
  const { command_id, node_id } = second!;
  const bodies = [
    { kind: "progress" as const, progress: progressAt(6) },
    { kind: "progress" as const, progress: progressAt(7) },
    failed,
  ];
  const reports = bodies.map((body) => ({ report_id: randomUUID(), command_id, at, body }));
  await store({ nodeId: node_id, request: { reports, heartbeat: null } });
  expect((await kept(second!)).slice(-2)).toEqual([
    ["progress", "start_node"],
    ["verdict", null],
  ]);
});

async function eventsOf(node: NodeId): Promise<number> {
  const [row] = await here.db<{ count: number }[]>`select count(*) from events where node_id = ${node}`;
  return row!.count;
}

async function kept({ command_id }: { readonly command_id: CommandId }) {
  const rows = await here.db<{ kind: string; action: string | null }[]>`
    select body->>'kind' as kind, body->'progress'->>'action_name' as action from upgrade_reports
    where command_id = ${command_id} order by id`;
  return rows.map(({ kind, action }) => [kind, action]);
}

test("ROLL-28: a node that waits for another program's job is told over HTTP, and its command stays unanswered", async () => {
  const [first] = commands;
  const at = new Date().toISOString();
  const body = { kind: "waiting" as const, waiting_for: ProfileId.parse("execution"), jobs_ahead: 2 };
  const report = { report_id: randomUUID(), command_id: first!.command_id, at, body };
  await store({ nodeId: first!.node_id, request: { reports: [report], heartbeat: null } });
  expect(await answered(first!.command_id)).toHaveLength(0);
  await here.settle();
  const list = async () =>
    NodeUpgradeList.parse((await here.ask("GET", `/rollouts/${rolloutId}/nodes?limit=10`)).body).nodes;
  const waiting = (await list()).filter(({ waiting_for }) => waiting_for !== null);
  expect(waiting).toMatchObject([{ node_id: first!.node_id, waiting_for: "execution", action_name: null }]);
  const shown = async () => ((await here.ask("GET", `/rollouts/${rolloutId}`)).body as RolloutView).why?.text;
  expect(await shown()).toContain(`waiting for execution on ${waiting[0]!.node_name}`);
  await here.report(rolloutId);
  expect((await list()).every(({ waiting_for }) => waiting_for === null)).toBe(true);
  expect(await shown()).not.toContain("waiting");
});

test("ROLL-28: a wait counts again when fewer jobs are ahead, and otherwise makes no row", async () => {
  const [first] = commands;
  const at = new Date().toISOString();
  const tell = async (waiting_for: string, jobs_ahead: number) => {
    const body = { kind: "waiting" as const, waiting_for: ProfileId.parse(waiting_for), jobs_ahead };
    const report = { report_id: randomUUID(), command_id: first!.command_id, at, body };
    await store({ nodeId: first!.node_id, request: { reports: [report], heartbeat: null } });
  };
  const rows = () => here.db`select 1 from upgrade_reports where command_id = ${first!.command_id}`;
  await tell("execution", 2);
  for (const again of [2, 3, 2]) await tell("execution", again);
  expect(await rows()).toHaveLength(1);
  await tell("relay", 1);
  expect(await rows()).toHaveLength(2);
  await here.settle();
  const nodes = (await here.ask("GET", `/rollouts/${rolloutId}/nodes?limit=10`)).body;
  expect(
    NodeUpgradeList.parse(nodes).nodes.filter(({ waiting_for }) => waiting_for === "relay"),
  ).toHaveLength(1);
});
