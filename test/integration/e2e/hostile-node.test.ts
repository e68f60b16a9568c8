/** One node sends everything that it should not, beside a fleet that must not notice. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { generateNodeKey, requestFor } from "../../../src/agent/identity/csr.ts";
import { ProfileId, Version, type CommandId } from "../../../src/core/ids.ts";
import {
  EnrollRequest,
  Heartbeat,
  PollRequest,
  RenewRequest,
  ReportRequest,
} from "../../../src/core/protocol/agent-api.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { openLabDatabase } from "../../support/lab/database.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { enrollmentClient } from "../../support/keys/enroll-simulated.ts";
import { startLab, type Lab } from "../../support/lab/lab.ts";
import { addRunningNodes, type LabNode } from "../../support/lab/node.ts";
import { addRawNode, type RawNode } from "../../support/lab/raw-node.ts";
import { completed, endingOf, startRollout } from "../../support/lab/rollout.ts";
import { examplesOf } from "../../support/messages/fields.ts";
import { hostileMessages, type Hostile } from "../../support/messages/hostile.ts";

const HOSTILE_NODES = 8;
const AT_ONCE = 4;

/** As the examples say it: their heartbeats are true. */
const [PROFILE] = examplesOf(ProfileId) as [string];
const [VERSION] = examplesOf(Version) as [string];
const [BEAT] = examplesOf(Heartbeat) as [Heartbeat];

let lab: Lab;
let db: Database;
let nodes: LabNode[];
let hostile: RawNode[];
let bystander: RawNode;

beforeAll(async () => {
  lab = await startLab();
  db = await openLabDatabase(lab);
  nodes = await addRunningNodes(lab, [{ name: "well-1" }, { name: "well-2" }]);
  bystander = await addRawNode(lab, "bystander", "other");
  const names = Array.from({ length: HOSTILE_NODES }, (_, at) => `hostile-${at}`);
  hostile = await Promise.all(names.map(async (name) => addRawNode(lab, name, PROFILE)));
}, 240_000);
afterAll(async () => {
  for (const node of [...hostile, bystander]) node.close();
  await db.end();
  await lab.stop();
}, 120_000);

const beat = (node: RawNode, changes: Partial<Heartbeat> = {}): Promise<number> => {
  const body = { ...BEAT, at: new Date().toISOString(), ...changes };
  return node.post("/agent/v1/heartbeat", Buffer.from(JSON.stringify(body)));
};

/** The hostile nodes take part in a rollout of their own, so that their reports are about commands that exist. */
async function hostileRollout(): Promise<{ id: string; commands: ReadonlyMap<string, CommandId> }> {
  for (const node of hostile) expect(await beat(node)).toBe(204);
  const to = lab.origin.publish("2.0.0-hostile");
  const id = await startRollout(lab, { profile: PROFILE, from: VERSION, to, batchSize: HOSTILE_NODES });
  const commands = await eventually("every hostile node has a command", async () => {
    const rows = await db<{ node_id: string; command_id: CommandId }[]>`
      select node_id, command_id from commands where rollout_id = ${id}`;
    return rows.length === HOSTILE_NODES && rows;
  });
  return { id, commands: new Map(commands.map(({ node_id, command_id }) => [node_id, command_id])) };
}

const about = (command: CommandId) => (example: unknown) => {
  const message = structuredClone(example) as ReportRequest;
  for (const report of message.reports)
    Object.assign(report, { report_id: randomUUID(), command_id: command });
  return message;
};

interface Sent extends Hostile {
  readonly path: string;
}

const messagesAbout = (command: CommandId): Sent[] =>
  (
    [
      ["/agent/v1/heartbeat", Heartbeat],
      ["/agent/v1/reports", ReportRequest, about(command)],
      ["/agent/v1/poll", PollRequest],
      ["/agent/v1/renew", RenewRequest],
    ] as const
  ).flatMap(([path, schema, prepare]) =>
    hostileMessages(schema, prepare).map((message) => ({ path, ...message })),
  );

async function sendAll(commands: ReadonlyMap<string, CommandId>) {
  const failures: { path: string; what: string; status: number | string }[] = [];
  let sent = 0;
  async function work(node: RawNode, waiting: Sent[]): Promise<void> {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { path, what, body } = next;
      const status = await node.post(path, body).catch(String);
      sent += 1;
      if (typeof status === "string" || status >= 500) failures.push({ path, what, status });
    }
  }
  // Each message by one of them.
  const queues = hostile.map((node, at) => ({
    node,
    waiting: messagesAbout(commands.get(node.nodeId)!).filter((_, index) => index % HOSTILE_NODES === at),
  }));
  await Promise.all(
    queues.flatMap(({ node, waiting }) => Array.from({ length: AT_ONCE }, async () => work(node, waiting))),
  );
  return { sent, failures };
}

/** A well-behaved node, in the same batches as the hostile ones: its every heartbeat must be stored. */
async function beatUntil(done: AbortSignal): Promise<number[]> {
  const answers: number[] = [];
  while (!done.aborted) answers.push(await beat(bystander, { agent_version: String(answers.length) }));
  return answers;
}

test("SNAP-16: no value in any field of any message of one node fails another node's request or its rollout", async () => {
  const { id: hostileId, commands } = await hostileRollout();
  const done = new AbortController();
  const beating = beatUntil(done.signal);
  const rollout = startRollout(lab, { from: "1.0.0", to: lab.origin.publish("2.0.0"), batchSize: 1 });
  const { sent, failures } = await sendAll(commands);
  expect(await endingOf(lab, await rollout)).toEqual(completed(nodes));
  done.abort();
  const answers = await beating;
  expect(failures).toEqual([]);
  expect(sent).toBeGreaterThan(1_000);
  expect(answers.length).toBeGreaterThan(10);
  expect(answers.filter((status) => status !== 204)).toEqual([]);
  for (const { name } of nodes) {
    const log = await readFile(join(lab.folder, `agent-${name}.log`), "utf8");
    expect(log).not.toMatch(/heartbeat not delivered|reports wait|poll failed/);
  }
  // The first verdict of each counts: whatever it said, the steps of their rollout could read it.
  expect(Object.keys((await endingOf(lab, hostileId)).nodes)).toHaveLength(HOSTILE_NODES);
}, 240_000);

test("SNAP-16: no value in any field of an enrollment is an internal error, and a good token enrolls afterwards", async () => {
  const client = await enrollmentClient(lab);
  const csr = requestFor(generateNodeKey());
  const withRequest = (example: unknown) => ({ ...(example as EnrollRequest), csr });
  const failures: unknown[] = [];
  for (const { what, body } of hostileMessages(EnrollRequest, withRequest)) {
    const headers = { "content-type": "application/json" };
    const { status } = await client.request("/enroll/v1/enroll", { method: "POST", headers, bytes: body });
    if (status < 400 || status >= 500) failures.push({ what, status });
  }
  client.close();
  expect(failures).toEqual([]);
  (await addRawNode(lab, "after-the-storm", "other")).close();
});
