/**
 * An agent without a machine: it polls, takes each command and reports its eight actions done at once. It verifies
 * nothing, because verifying is not what is measured. Progress, verdict and heartbeat go in one request, as the real
 * outbox sends what has gathered.
 */
import { randomUUID } from "node:crypto";
import type { CommandHeader } from "../../src/core/protocol/command.ts";
import { CommandId } from "../../src/core/ids.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { AppliedVersions, PollResponse, ReportRequest } from "../../src/core/protocol/agent-api.ts";
import type { SnapshotHeader } from "../../src/core/snapshot/envelope.ts";
import type { HeadHeader } from "../../src/core/snapshot/head.ts";
import { progressAt, UPGRADE_ACTIONS } from "../../src/core/upgrade/phases.ts";
import { AFTER, BEFORE, heartbeatOf } from "../support/heartbeat.ts";
import { postRequest, type Reply, type Wire } from "../support/wire.ts";

type Command = Pick<CommandHeader, "command_id" | "sequence" | "fingerprint">;

/**
 * Runs until its connection ends. `waiting` is called when it has nothing left to fetch, `received` for each snapshot.
 */
export async function runSimulatedAgent(
  wire: Wire,
  waiting: () => void,
  received: (header: SnapshotHeader) => void = () => undefined,
): Promise<void> {
  const applied: AppliedVersions = {};
  let mark = 0;
  let head_issued_at: string | null = null;
  let fetched = false;
  expect(204, await wire.send(postRequest("/agent/v1/heartbeat", heartbeatOf(BEFORE, applied))));
  for (;;) {
    const asked = wire.send(
      postRequest("/agent/v1/poll", {
        have: applied,
        command_mark: mark,
        head_issued_at,
        wait_ms: LIMITS.pollWaitMaxMs,
      }),
    );
    if (fetched) waiting();
    const reply = await asked;
    if (reply.status === 204) continue;
    const answer = JSON.parse(expect(200, reply).body.toString("utf8")) as PollResponse;
    const { snapshots, increments, head, commands } = answer;
    fetched = true;
    if (head !== null) head_issued_at = headerOf<HeadHeader>(head).issued_at;
    for (const frame of [...snapshots, ...increments]) {
      const header = headerOf<SnapshotHeader>(frame);
      applied[header.scope_type] = { epoch: header.authority_epoch, version: header.config_version };
      received(header);
    }
    for (const delivery of commands) {
      const command = headerOf<Command>(delivery.command);
      mark = Math.max(mark, command.sequence);
      expect(204, await wire.send(postRequest("/agent/v1/reports", doneReport(command, applied))));
    }
  }
}

export function doneReport(
  { command_id: id, fingerprint }: Pick<Command, "command_id" | "fingerprint">,
  applied: AppliedVersions,
): ReportRequest {
  const at = new Date().toISOString();
  const command_id = CommandId.parse(id);
  const verdict = {
    verdict: "COMPLETED",
    error_code: null,
    error_message: null,
    started_at: at,
    ended_at: at,
  } as const;
  const actions = UPGRADE_ACTIONS.map(
    (_, index) => ({ kind: "progress", progress: progressAt(index) }) as const,
  );
  const bodies = [...actions, { kind: "verdict", ...verdict } as const];
  return {
    reports: bodies.map((body) => ({ report_id: randomUUID(), command_id, at, body })),
    heartbeat: heartbeatOf({ version: AFTER.version, fingerprint }, applied),
  };
}

/** The header alone, without the checks that a real agent makes: see src/trust/frame.ts for the form. */
function headerOf<T>(frame: string): T {
  const bytes = Buffer.from(frame, "base64");
  return JSON.parse(bytes.toString("utf8", 8, 8 + bytes.readUInt32BE(4))) as T;
}

function expect(status: number, reply: Reply): Reply {
  if (reply.status === status) return reply;
  throw new Error(`HTTP ${reply.status}: ${reply.body.toString("utf8").slice(0, 300)}`);
}
