// Reports about commands that the database does not know, over HTTP on real rows: each is answered, and what the node runs is
// recorded (ROLL-29).

import { randomUUID } from "node:crypto";
import Fastify, { type FastifyInstance } from "fastify";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { ProfileId, type CommandId, type NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { ReportAnswers } from "../../../src/core/protocol/agent-api.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { progressAt } from "../../../src/core/upgrade/phases.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createReportStore } from "../../../src/server/agents/reports.ts";
import { registerAgentRoutes } from "../../../src/server/agents/routes.ts";
import { handleErrors } from "../../../src/server/api/errors.ts";
import { digestLike, manualRequest, V1, V2 } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const V9 = digestLike("9");

let here: DrivenSite;
let agents: FastifyInstance;
let profile: ProfileId;
let node: NodeId;
let count = 0;

beforeAll(async () => {
  here = await startDrivenSite();
  agents = Fastify();
  handleErrors(agents, silentLogger);
  agents.decorateRequest("nodeId");
  agents.addHook("onRequest", async (request) => void (request.nodeId = node)); // as the listener reads the certificate
  registerAgentRoutes(agents, { storeReports: createReportStore(here.db, () => undefined) } as never);
});
afterAll(async () => {
  await agents.close();
  await here.stop();
});
beforeEach(async () => {
  profile = ProfileId.parse(`unknown-${++count}`);
  node = await here.addNode(`${profile}-a`, { profile });
});

const at = (): string => new Date().toISOString();
const verdict = (ended = "COMPLETED") => ({
  kind: "verdict",
  verdict: ended,
  error_code: ended === "COMPLETED" ? null : "ACTION_TIMEOUT",
  error_message: null,
  started_at: at(),
  ended_at: at(),
});
const refused = {
  kind: "refused",
  rejection: { code: "COMMAND_EXPIRED", subject: "command", reason: "too late", at: at() },
};
const reportOf = (body: object, command_id: string = randomUUID()) => ({
  report_id: randomUUID(),
  command_id,
  at: at(),
  body,
});
interface Measured {
  readonly installed?: string;
  readonly version?: string | null;
}
const heartbeat = (running: string, { installed = running, version = "9.0.0" }: Measured = {}): object => ({
  at: at(),
  agent_version: "0.1.0",
  applied: {},
  programs: [
    {
      chain_profile_id: profile,
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: running,
      installed_fingerprint: installed,
      version,
      instance_id: "some.forward.1.1",
      started_at: at(),
      restarts: 0,
    },
  ],
  last_rejection: null,
});

type Sent = ReturnType<typeof reportOf>;
async function send(reports: readonly Sent[], beside: object | null = null): Promise<string[]> {
  const payload = { reports, heartbeat: beside };
  const reply = await agents.inject({ method: "POST", url: "/agent/v1/reports", payload });
  expect(reply.statusCode).toBe(200);
  const { answers } = reply.json<ReportAnswers>();
  expect(answers.map(({ report_id }) => report_id)).toEqual(reports.map(({ report_id }) => report_id));
  for (const { outcome, reason } of answers) expect(reason === null).toBe(outcome === "stored");
  return answers.map(({ outcome }) => outcome);
}

const eventsOf = (kind: string) =>
  here.db<{ actor: string | null; data: Record<string, unknown> }[]>`
    select actor, data from events where kind = ${kind} and node_id = ${node} order by id`;
const recorded = async () => {
  const [row] = await here.db<{ binary_version: string; fingerprint: string }[]>`
    select binary_version, fingerprint from node_config_state where node_id = ${node} and chain_profile_id = ${profile}`;
  return [row!.binary_version, row!.fingerprint];
};

async function launched(): Promise<{ id: RolloutView["id"]; command: CommandId }> {
  const request = manualRequest({ chain_profile_id: profile, health_wait_seconds: 0 });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  const [row] = await here.db<{ command_id: CommandId }[]>`
    select command_id from commands where rollout_id = ${id} and node_id = ${node}`;
  return { id, command: row!.command_id };
}

test("ROLL-29: each report is answered: stored, repeated, or about a command that is not known here", async () => {
  const { command } = await launched();
  const progress = { kind: "progress", progress: progressAt(1) };
  const done = reportOf(verdict("FAILED"), command);
  expect(await send([reportOf(progress, command), done, reportOf(refused)])).toEqual([
    "stored",
    "stored",
    "unknown_command",
  ]);
  expect(await send([done, reportOf(progress, command)])).toEqual(["repeated", "repeated"]);
});

test("ROLL-29: a verdict about an unknown command leaves one event, and records what the node runs beside it", async () => {
  const report = reportOf(verdict());
  expect(await recorded()).toEqual(["1.0.0", V1]);
  expect(await send([report], heartbeat(V9))).toEqual(["unknown_command"]);
  expect(await recorded()).toEqual(["9.0.0", V9]);
  expect(await send([report], heartbeat(V9))).toEqual(["unknown_command"]);
  const [event, ...others] = await eventsOf("node.report_unknown");
  expect(others).toEqual([]);
  expect(event!.data).toMatchObject({ command_id: report.command_id, ended: "COMPLETED", error_code: null });
  expect(event!.data["reason"]).toContain("restored from an older backup");
  expect(await eventsOf("node.adopted")).toMatchObject([
    {
      actor: "fairlead",
      data: {
        before: { binary_version: "1.0.0", fingerprint: V1 },
        after: { binary_version: "9.0.0", fingerprint: V9 },
      },
    },
  ]);
});

test("ROLL-29: the next upgrade of such a node begins from what it runs", async () => {
  await send([reportOf(verdict())], heartbeat(V9));
  const request = manualRequest({ chain_profile_id: profile, source_version: "9.0.0" });
  const { id } = (await here.ask("POST", "/rollouts", request)).body as RolloutView;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.settle();
  const [assigned] =
    await here.db`select current_fp, target_fp from service_assignments where node_id = ${node}`;
  expect(assigned).toEqual({ current_fp: V9, target_fp: V2 });
});

test("ROLL-29: bytes that a rollout of this site brought have that rollout's version, whatever the agent calls them", async () => {
  const { id } = await launched();
  await here.report(id, "FAILED");
  expect(await recorded()).toEqual(["1.0.0", V1]);
  await send([reportOf(verdict())], heartbeat(V2, { version: "nightly" }));
  expect(await recorded()).toEqual(["2.0.0", V2]);
});

test.each<[string, () => Sent[], () => object | null]>([
  ["a refusal", () => [reportOf(refused)], () => heartbeat(V9)],
  ["progress", () => [reportOf({ kind: "progress", progress: progressAt(3) })], () => heartbeat(V9)],
  ["a verdict without a heartbeat", () => [reportOf(verdict())], () => null],
  ["a verdict of a half-done upgrade", () => [reportOf(verdict())], () => heartbeat(V1, { installed: V9 })],
  [
    "a verdict about bytes without a version",
    () => [reportOf(verdict())],
    () => heartbeat(V9, { version: null }),
  ],
])("ROLL-29: %s about an unknown command is answered, and records no version", async (_, reports, beside) => {
  expect(await send([...reports()], beside())).toEqual(["unknown_command"]);
  expect(await recorded()).toEqual(["1.0.0", V1]);
  expect(await eventsOf("node.adopted")).toEqual([]);
});

test("ROLL-29: a verdict about an unknown command does not interfere with an upgrade that is under way", async () => {
  const { id } = await launched();
  await send([reportOf(verdict())], heartbeat(V9));
  expect(await recorded()).toEqual(["1.0.0", V1]);
  await here.report(id);
  expect(await recorded()).toEqual(["2.0.0", V2]);
});

test("ROLL-29: another node's command is as unknown as none, and that node's record stays", async () => {
  const { command } = await launched();
  const victim = node;
  node = await here.addNode(`${profile}-other`, { profile });
  expect(await send([reportOf(verdict(), command)], heartbeat(V9))).toEqual(["unknown_command"]);
  expect(await recorded()).toEqual(["9.0.0", V9]);
  node = victim;
  expect(await recorded()).toEqual(["1.0.0", V1]);
  expect(
    await here.db`select 1 from commands where command_id = ${command} and answered_at is not null`,
  ).toHaveLength(0);
});

test("ROLL-6: reports about any number of unknown commands are a bounded number of rows and events", async () => {
  for (let sent = 0; sent < 3; sent++) await send(Array.from({ length: 60 }, () => reportOf(refused)));
  expect(await eventsOf("node.report_unknown")).toHaveLength(LIMITS.unknownReportsMax);
  await here.db`update unknown_reports set noted_at = now() - interval '8 days' where node_id = ${node}`;
  await send([reportOf(refused)]);
  expect(await eventsOf("node.report_unknown")).toHaveLength(LIMITS.unknownReportsMax + 1);
  expect(await here.db`select 1 from unknown_reports where node_id = ${node}`).toHaveLength(1);
});
