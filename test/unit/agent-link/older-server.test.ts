// An agent beside a control plane that reads strictly and does not know every key of a message, over HTTP.
import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { json } from "node:stream/consumers";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { openLink, type Link, type PollQuestion } from "../../../src/agent/link/link.ts";
import { CommandId } from "../../../src/core/ids.ts";
import {
  Heartbeat,
  PollRequest,
  ProgramReport,
  ReportRequest,
  type UpgradeReport,
} from "../../../src/core/protocol/agent-api.ts";
import { CAPABILITIES, PROTOCOL } from "../../../src/core/protocol/agent-protocol.ts";
import { newKeys, PROFILE } from "../../support/trust.ts";
import { identityOf } from "../agent-authority/node.ts";

const AT = "2026-01-31T12:00:00.000Z";
const OlderHeartbeat = Heartbeat.omit({ instance: true })
  .extend({ programs: z.array(ProgramReport.omit({ started_alone: true }).strict()) })
  .strict();
const OLDER = {
  "/agent/v1/poll": PollRequest.omit({ protocol: true }).strict(),
  "/agent/v1/heartbeat": OlderHeartbeat,
  "/agent/v1/reports": ReportRequest.extend({ heartbeat: OlderHeartbeat.nullable() }).strict(),
};
const NEWER = {
  "/agent/v1/poll": PollRequest.strict(),
  "/agent/v1/heartbeat": Heartbeat.strict(),
  "/agent/v1/reports": ReportRequest.strict(),
};

const POLL: PollQuestion = {
  have: {},
  command_mark: 0,
  intent_serials: {},
  head_issued_at: null,
  resync: [],
  wait_ms: 0,
};
const HEARTBEAT: Heartbeat = {
  at: AT,
  agent_version: "1.0.0",
  applied: {},
  programs: [
    {
      chain_profile_id: PROFILE,
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: null,
      installed_fingerprint: null,
      version: null,
      instance_id: null,
      started_at: null,
      restarts: 0,
      started_alone: { at: AT, expired_since: null },
    },
  ],
  last_rejection: null,
  instance: { id: randomUUID(), host: "host", started_at: AT },
};

const REPORT: UpgradeReport = {
  report_id: randomUUID(),
  command_id: CommandId.parse(randomUUID()),
  at: AT,
  body: {
    kind: "refused",
    rejection: { code: "INTENT_EXPIRED", subject: "an intent", reason: "too late", at: AT },
  },
};

let schemas: Record<string, z.ZodType>;
let answers: number[];
let bodies: unknown[];
let link: Link;
const never = new AbortController().signal;

async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
  const body = await json(request);
  const accepted = schemas[request.url!]!.safeParse(body).success;
  answers.push(accepted ? 204 : 400);
  bodies.push(body);
  reply.writeHead(answers.at(-1)!, { "content-type": "application/json" });
  reply.end(accepted ? "" : JSON.stringify({ error: { code: "INVALID_INPUT", message: "not valid" } }));
}
const server = createServer((request, reply) => void answer(request, reply));

let port = 0;
async function listen(): Promise<void> {
  await new Promise<void>((listening) => server.listen(port, "127.0.0.1", listening));
  port = (server.address() as AddressInfo).port;
}
async function stop(): Promise<void> {
  const closed = new Promise((done) => server.close(done));
  server.closeAllConnections();
  await closed;
}

beforeEach(async () => {
  [schemas, answers, bodies, port] = [OLDER, [], [], 0];
  await listen();
  link = openLink(identityOf(newKeys(), { agent_url: `http://127.0.0.1:${port}` }));
});
afterEach(async () => {
  link.close();
  await stop();
});

test("ROLL-7: a server that refuses newer fields gets the heartbeat once more without them, and later ones without them at once", async () => {
  await link.heartbeat(HEARTBEAT, never);
  await link.heartbeat(HEARTBEAT, never);
  expect(answers).toEqual([400, 204, 204]);
});

test("USE-7: a server of before the protocol's number gets polls without it", async () => {
  expect(await link.poll(POLL, never)).toBeNull();
  expect(await link.poll(POLL, never)).toBeNull();
  expect(answers).toEqual([400, 204, 204]);
  expect(bodies.at(-1)).toEqual({ ...POLL, capabilities: [...CAPABILITIES] });
});

test("USE-7: a server that knows it gets the protocol's number and the agent's capabilities", async () => {
  schemas = NEWER;
  await link.poll(POLL, never);
  expect(bodies).toEqual([{ ...POLL, protocol: PROTOCOL, capabilities: [...CAPABILITIES] }]);
});

test("ROLL-7: a report with a heartbeat reaches a server that refuses newer fields", async () => {
  await link.report({ reports: [REPORT], heartbeat: HEARTBEAT }, never);
  await link.report({ reports: [REPORT], heartbeat: HEARTBEAT }, never);
  expect(answers).toEqual([400, 204, 204]);
});

test("USE-7: after a reconnect the newer form of every message is tried again", async () => {
  await link.heartbeat(HEARTBEAT, never);
  await link.poll(POLL, never);
  await stop();
  await expect(link.poll(POLL, never)).rejects.toMatchObject({ code: "UNREACHABLE" });
  schemas = NEWER;
  await listen();
  await link.heartbeat(HEARTBEAT, never);
  await link.poll(POLL, never);
  expect(answers).toEqual([400, 204, 400, 204, 204, 204]);
  expect(bodies.slice(-2)).toEqual([HEARTBEAT, expect.objectContaining({ protocol: PROTOCOL })]);
});

test("ROLL-7: a heartbeat that is refused without the newer fields too is refused, and the next one is sent whole", async () => {
  schemas = { "/agent/v1/heartbeat": z.never() };
  await expect(link.heartbeat(HEARTBEAT, never)).rejects.toMatchObject({ code: "INVALID_INPUT" });
  schemas = NEWER;
  await link.heartbeat(HEARTBEAT, never);
  expect([answers, bodies.at(-1)]).toEqual([[400, 400, 204], HEARTBEAT]);
});
