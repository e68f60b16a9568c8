// The gate in front of what the agent does: commands, downloads, starts, certificates (SNAP-9, SNAP-10, SNAP-16).
import { expect, test } from "vitest";
import { createContact } from "../../../src/agent/degraded/contact.ts";
import { createGateKeeper, type SituationSource } from "../../../src/agent/degraded/gate-keeper.ts";
import { jobConcerns } from "../../../src/agent/degraded/program-concerns.ts";
import { observeLink } from "../../../src/agent/degraded/observed-link.ts";
import type { Link } from "../../../src/agent/link/link.ts";
import { createProgramStarter } from "../../../src/agent/program-starter.ts";
import type { ActivationRecord } from "../../../src/agent/upgrade/activations.ts";
import { readStartedAlone } from "../../../src/agent/upgrade/started-alone.ts";
import { createRunner } from "../../../src/agent/upgrade-runner.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { Rejection } from "../../../src/core/protocol/agent-api.ts";
import { RunSpec, type UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { runDigest } from "../../../src/trust/intent.ts";
import { until } from "../../support/programs/until.ts";
import { fingerprint, NODE, NOW, payloadOf, PROFILE } from "../../support/trust.ts";
import { createNode, temporaryFolder, verdictOf } from "../agent-authority/node.ts";

const world = () => {
  const time = { monotonic: 0 };
  const clock = { now: () => NOW, monotonic: () => time.monotonic };
  return { time, clock, contact: createContact(clock) };
};
const never = new AbortController().signal;

/** A store that knows nothing but whether its head is fresh. */
const source = (changes: Partial<SituationSource> = {}): SituationSource => ({
  nodeId: NODE,
  isHeadFresh: () => true,
  policy: () => null,
  silentMs: () => 0,
  time: () => ({ local: NOW, effective: NOW }),
  revoked: () => [],
  isRefused: () => false,
  assignedUntil: () => null,
  ...changes,
});

test("SNAP-9: contact lasts from an answer for its limit, and not a moment longer", () => {
  const { time, contact } = world();
  expect(contact.isThere()).toBe(false);
  contact.answered();
  time.monotonic = LIMITS.contactLostMs;
  expect(contact.isThere()).toBe(true);
  time.monotonic += 1;
  expect(contact.isThere()).toBe(false);
});

test("SNAP-10: an answer is contact, NODE_REVOKED is remembered, and who lost its authority is no control plane", async () => {
  const { contact } = world();
  let answer: () => Promise<null> = async () => null;
  let refused = 0;
  const link = observeLink({ poll: () => answer() } as unknown as Link, contact, {
    noteRefused: async () => void (refused += 1),
  });
  const poll = () => link.poll({ wait_ms: 0 } as never, never).catch(() => "failed");
  answer = async () => Promise.reject(new FairleadError("NOT_READY", "this replica is cut off"));
  await poll();
  expect([contact.isThere(), contact.isPartitioned(), refused]).toEqual([false, true, 0]);
  answer = async () => Promise.reject(new FairleadError("NODE_REVOKED", "this node was revoked"));
  await poll();
  expect([contact.isThere(), contact.isPartitioned(), refused]).toEqual([false, false, 1]);
  answer = async () => null;
  await poll();
  expect([contact.isThere(), contact.isPartitioned(), refused]).toEqual([true, false, 1]);
});

test("SNAP-9: a command that everyone signed is refused where the gate is closed, with the gate's code", async () => {
  const node = await createNode();
  const { contact, time } = world();
  let fresh = false;
  node.world.keeper = createGateKeeper(source({ isHeadFresh: () => fresh }), contact);
  expect(verdictOf(await node.deliver())).toBe("DEGRADED_FORBIDDEN");
  contact.answered();
  expect(verdictOf(await node.deliver())).toBe("HEAD_STALE");
  expect(node.ledger().pending()).toEqual([]);
  fresh = true;
  expect(verdictOf(await node.deliver())).toBe("accepted");
  time.monotonic = LIMITS.contactLostMs + 1;
  expect(verdictOf(await node.deliver({ command: { attempt: 2 } }))).toBe("DEGRADED_FORBIDDEN");
});

test.each([
  ["service_assignment", PROFILE],
  ["artifact", fingerprint("v2")],
  ["run", runDigest(payloadOf().run)],
] as const)(
  "SNAP-10: a command is refused where a head revokes its %s, and taken where another one is",
  async (kind, id) => {
    const node = await createNode();
    const { contact } = world();
    contact.answered();
    let named: string = id;
    node.world.keeper = createGateKeeper(source({ revoked: () => [{ kind, id: named }] }), contact);
    expect(verdictOf(await node.deliver())).toBe("AUTHORITY_REVOKED");
    named = "another";
    expect(verdictOf(await node.deliver())).toBe("accepted");
  },
);

test("SNAP-10: a reverse is refused where the run that the node recorded is revoked, and not for the run of its command", () => {
  const recorded = RunSpec.parse({ args: ["--recorded"] });
  const activation = { previous: { run: recorded } } as unknown as ActivationRecord;
  const job = {
    chain_profile_id: PROFILE,
    artifact: { fingerprint: fingerprint("v1") },
    run: RunSpec.parse({}),
  };
  const runs = (direction: "forward" | "reverse") =>
    jobConcerns({ ...job, direction } as unknown as UpgradeJob, activation)
      .filter(({ kind }) => kind === "run")
      .map(({ id }) => id);
  expect(runs("reverse")).toEqual([runDigest(recorded)]);
  expect(runs("forward")).toEqual([runDigest(job.run)]);
});

interface Machine {
  supervised: boolean;
  starts: number;
}

async function runnerOf(
  machine: Machine,
  keeper: ReturnType<typeof createGateKeeper>,
  contact: ReturnType<typeof createContact>,
) {
  const noted: Rejection[] = [];
  const folder = await temporaryFolder();
  const adapter = {
    isSupervised: async () => machine.supervised,
    measure: async () => digestOf("installed"),
    start: async () => void ((machine.starts += 1), (machine.supervised = true)),
  };
  const runner = createRunner({
    stateDir: folder,
    programs: {
      all: () => [PROFILE],
      config: () => ({ run: RunSpec.parse({}) }),
      adapter: () => adapter,
    } as never,
    ledger: {
      pending: () => [],
      noteRejection: async (rejection: Rejection) => void noted.push(rejection),
    } as never,
    authorizeAgain: async () => undefined,
    outbox: {} as never,
    keeper,
    contact,
    clock: { now: () => NOW, monotonic: () => 0 },
    log: silentLogger,
    fs: nodeFileSystem,
    link: () => ({}) as never,
    busy: () => undefined,
    beat: () => undefined,
  });
  return { runner, noted, folder };
}

test("SNAP-9: after a restart nothing is started before the first poll is over; then it is, where somebody is there", async () => {
  const { contact } = world();
  const machine = { supervised: false, starts: 0 };
  const asked: string[] = [];
  const keeper = createGateKeeper(source({ revoked: () => (asked.push("the gate"), []) }), contact);
  const patient = { ...contact, settled: async () => (asked.push("the first poll"), contact.settled()) };
  const { runner } = await runnerOf(machine, keeper, patient);
  runner.resume(never);
  await until("it asks", () => asked.length > 0);
  expect([asked, machine.starts]).toEqual([["the first poll"], 0]);
  contact.answered();
  contact.settle();
  await runner.idle();
  expect(machine.starts).toBe(1);
});

const FORBIDDING = {
  allowed: [],
  offline_max_ms: 1,
  route_ttl_ms: 0,
  session_ttl_ms: 0,
  when_partitioned: "hold" as const,
};

test("SNAP-9: cut off under a policy that forbids restarts, a program that runs goes on, and one that does not is not started anew", async () => {
  const { contact } = world();
  contact.settle();
  const policy = () => ({ body: FORBIDDING, expiresAt: NOW + 1 });
  const keeper = createGateKeeper(source({ policy }), contact);
  const runs = { supervised: true, starts: 0 };
  await (async () => {
    const { runner, noted } = await runnerOf(runs, keeper, contact);
    runner.resume(never);
    await runner.idle();
    expect([runs.starts, noted]).toEqual([0, []]);
  })();

  const stands = { supervised: false, starts: 0 };
  const { runner, noted } = await runnerOf(stands, keeper, contact);
  runner.resume(never);
  await runner.idle();
  runner.reconsider(never);
  await runner.idle();
  expect(stands.starts).toBe(0);
  expect(noted).toMatchObject([{ code: "DEGRADED_NOT_ALLOWED", subject: `start of ${PROFILE}` }]); // told once
  contact.answered();
  runner.reconsider(never);
  await until("the program is started when the control plane is back", () => stands.starts === 1);
});

test.each([
  ["without a policy", {}, null],
  ["on an assignment that has expired", { assignedUntil: () => NOW - 60_000 }, NOW - 60_000],
  [
    "past its policy's time",
    {
      policy: () => ({
        body: { ...FORBIDDING, allowed: ["continue_services" as const] },
        expiresAt: NOW - 5,
      }),
    },
    NOW - 5,
  ],
] as const)(
  "SNAP-9: cut off %s, a program is started anew, and the start is kept to be told",
  async (_, changes, since) => {
    const { contact } = world();
    contact.settle();
    const machine = { supervised: false, starts: 0 };
    const keeper = createGateKeeper(source(changes), contact);
    const { runner, noted, folder } = await runnerOf(machine, keeper, contact);
    runner.resume(never);
    await runner.idle();
    expect([machine.starts, noted]).toEqual([1, []]);
    const expired_since = since === null ? null : new Date(since).toISOString();
    expect(await readStartedAlone(folder, PROFILE)).toEqual({
      at: new Date(NOW).toISOString(),
      expired_since,
    });

    machine.supervised = false; // and with the control plane there again, a start is like any other
    contact.answered();
    runner.resume(never);
    await runner.idle();
    expect([machine.starts, await readStartedAlone(folder, PROFILE)]).toEqual([2, undefined]);
  },
);

test.each([
  ["service_assignment", PROFILE],
  ["artifact", digestOf("installed")],
  ["run", runDigest(RunSpec.parse({}))],
] as const)(
  "SNAP-10: a program whose %s is known to be revoked is not started, alone or connected, whatever has expired",
  async (kind, id) => {
    for (const isThere of [false, true]) {
      const { contact } = world();
      if (isThere) contact.answered();
      contact.settle();
      const machine = { supervised: false, starts: 0 };
      const revoked = () => [{ kind, id }] as const;
      const assignedUntil = () => NOW - 1;
      const keeper = createGateKeeper(source({ revoked, assignedUntil }), contact);
      const { runner, noted } = await runnerOf(machine, keeper, contact);
      runner.resume(never);
      await runner.idle();
      expect([machine.starts, noted[0]?.code]).toEqual([0, "AUTHORITY_REVOKED"]);
    }
  },
);

test("SNAP-10: a program is started where another artifact and another run are revoked", async () => {
  const { contact } = world();
  contact.settle();
  const machine = { supervised: false, starts: 0 };
  const revoked = () =>
    [
      { kind: "artifact", id: digestOf("another") },
      { kind: "run", id: digestOf("another") },
    ] as const;
  const { runner } = await runnerOf(machine, createGateKeeper(source({ revoked }), contact), contact);
  runner.resume(never);
  await runner.idle();
  expect(machine.starts).toBe(1);
});

test("ROLL-6: a program that is lost and cannot be started is tried again later each time, and not while it runs", async () => {
  const time = { now: 0 };
  const world = { lost: true, starts: 0 };
  const contact = createContact({ now: () => NOW, monotonic: () => time.now });
  contact.answered();
  contact.settle();
  const adapter = {
    isLost: async () => world.lost,
    isSupervised: async () => false,
    measure: async () => digestOf("installed"),
    start: async () => {
      world.starts += 1;
      throw new Error("it does not start");
    },
  };
  const starter = createProgramStarter({
    stateDir: await temporaryFolder(),
    programs: { config: () => ({ run: RunSpec.parse({}) }), adapter: () => adapter } as never,
    ledger: { noteRejection: async () => undefined },
    keeper: createGateKeeper(source(), contact),
    contact,
    clock: { now: () => NOW, monotonic: () => time.now },
    log: silentLogger,
    fs: nodeFileSystem,
    beat: () => undefined,
  });
  const startsAt: number[] = [];
  for (; time.now < 200_000; time.now += 5_000) {
    const before = world.starts;
    await starter.watch(PROFILE, never);
    if (world.starts > before) startsAt.push(time.now / 1000);
  }
  expect(startsAt).toEqual([0, 10, 30, 70, 150]);
  world.lost = false;
  for (; time.now < 2_000_000; time.now += 5_000) await starter.watch(PROFILE, never);
  expect(world.starts).toBe(5);
  world.lost = true; // it had recovered: the first retry comes at once
  await starter.watch(PROFILE, never);
  expect(world.starts).toBe(6);
});
