// A job behind another program's job (ROLL-28): it waits in the ledger, within its command's lifetime, over a restart.

import { expect, test } from "vitest";
import { createAuthorizeAgain } from "../../../src/agent/authority/authorize-again.ts";
import type { PendingJob } from "../../../src/agent/authority/ledger.ts";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import type { Outbox } from "../../../src/agent/link/outbox.ts";
import type { Programs } from "../../../src/agent/programs/programs.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import { createRunner, type RunnerDeps } from "../../../src/agent/upgrade-runner.ts";
import { CommandId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { UpgradeReport } from "../../../src/core/protocol/agent-api.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { OPEN_GATE } from "../../support/programs/commanded-machine.ts";
import { until } from "../../support/programs/until.ts";
import * as trust from "../../support/trust.ts";
import { createNode, type Node } from "./node.ts";

const SECOND = ProfileId.parse("second");
const SECOND_ROLLOUT = RolloutId.parse("88888888-8888-4888-8888-888888888888");
const SECOND_COMMAND = CommandId.parse("00000000-0000-4000-8000-000000000002");

/** Both commands accepted: the first program's job is at the head of the line. */
async function acceptBoth(node: Node): Promise<void> {
  const first = await node.prepare();
  const named = { chain_profile_id: SECOND, rollout_id: SECOND_ROLLOUT };
  const second = await node.prepare({
    command: { ...named, command_id: SECOND_COMMAND },
    intent: named,
    assignment: named,
    beside: [first.own],
  });
  for (const each of [first, second])
    expect((await node.receive(each.command, each.intent, each.proof)).kind).toBe("accepted");
}

/** A runner over the node's real ledger. No program is there: every action that an adapter is asked for is noted and fails. */
function runnerOf(node: Node) {
  const said: string[] = [];
  const asked: string[] = [];
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const adapterOf = (profile: ProfileId): RuntimeAdapter =>
    new Proxy({} as RuntimeAdapter, {
      get: (_, method) => async () => {
        asked.push(`${profile} ${String(method)}`);
        throw new Error("nothing is there");
      },
    });
  const programs = {
    all: () => [],
    has: () => true,
    measure: async () => node.world.installed,
    adapter: adapterOf,
  } as unknown as Programs;
  const stateDir = node.dataDir;
  const again = createAuthorizeAgain({
    identity: node.identity,
    snapshots: node.snapshots(),
    ledger: node.ledger(),
    programs,
    stateDir,
  });
  const tell = (commandId: CommandId, body: UpgradeReport["body"]): void => {
    const who = commandId === SECOND_COMMAND ? "second" : "first";
    if (body.kind === "waiting") said.push(`${who} waits for ${body.waiting_for}`);
    if (body.kind === "verdict") said.push(`${who} ${body.verdict} ${body.error_code}`);
  };
  const outbox = {
    tell,
    add: async (commandId: CommandId, body: UpgradeReport["body"]) => {
      tell(commandId, body);
      return "written";
    },
  } as unknown as Outbox;
  const contact = createContact(node.clock);
  contact.settle();
  const deps: Partial<RunnerDeps> = {
    stateDir,
    programs,
    ledger: node.ledger(),
    outbox,
    contact,
    keeper: OPEN_GATE,
    clock: node.clock,
    log: silentLogger,
    fs: nodeFileSystem,
    busy: () => undefined,
    beat: () => undefined,
    // The first program's job takes until it is released.
    authorizeAgain: async (pending: PendingJob, begun: boolean) =>
      pending.job.chain_profile_id === SECOND ? again(pending, begun) : held,
  };
  const runner = createRunner(deps as RunnerDeps);
  return { runner, said, asked, release };
}

test("ROLL-28: a job waits behind another program's job, says so, and begins when that has ended", async () => {
  const node = await createNode();
  await acceptBoth(node);
  const { runner, said, asked, release } = runnerOf(node);
  runner.resume(new AbortController().signal);
  await until("the second waits", () => said.length > 0);
  expect(said).toEqual([`second waits for ${trust.PROFILE}`]);
  expect(asked.filter((each) => each.startsWith(SECOND))).toEqual([]);
  expect(node.ledger().pending()).toHaveLength(2);
  release();
  await runner.idle();
  expect(said.map((each) => each.split(" ")[0])).toEqual(["second", "first", "second"]);
  expect(asked.some((each) => each.startsWith(SECOND))).toBe(true); // it began
  expect(node.ledger().pending()).toEqual([]);
});

test("ROLL-28: a job whose command expired while it waited does not begin", async () => {
  const node = await createNode();
  await acceptBoth(node);
  const { runner, said, asked, release } = runnerOf(node);
  runner.resume(new AbortController().signal);
  await until("the second waits", () => said.length > 0);
  node.world.now += LIMITS.commandLifetimeMs;
  release();
  await runner.idle();
  expect(said.at(-1)).toBe("second FAILED COMMAND_EXPIRED");
  expect(asked.filter((each) => each.startsWith(`${SECOND} backup`))).toEqual([]);
  expect(node.ledger().pending()).toEqual([]);
});

test("ROLL-28: after a restart the jobs are in the ledger in their order, and the wait is told again", async () => {
  const node = await createNode();
  await acceptBoth(node);
  await node.restart();
  const { runner, said, release } = runnerOf(node);
  runner.resume(new AbortController().signal);
  await until("the second waits", () => said.length > 0);
  expect(said).toEqual([`second waits for ${trust.PROFILE}`]);
  release();
  await runner.idle();
});
