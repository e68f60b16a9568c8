// An upgrade asks the gate before it fetches and before it stops anything; taking it back asks nobody (SNAP-9, SNAP-16).
import { afterEach, beforeEach, expect, test } from "vitest";
import { createContact, type Contact } from "../../../src/agent/degraded/contact.ts";
import type { GateKeeper } from "../../../src/agent/degraded/gate-keeper.ts";
import { createRunner } from "../../../src/agent/upgrade-runner.ts";
import type { Gate } from "../../../src/core/degraded/gate.ts";
import type { AuthorizeAgain } from "../../../src/agent/authority/authorize-again.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { type Machine, machine, never } from "../../support/programs/machine.ts";

const OPEN: Gate = { kind: "open" };
const closed = (code: "DEGRADED_FORBIDDEN" | "HEAD_STALE" | "AUTHORITY_REVOKED"): Gate => ({
  kind: "closed",
  code,
  reason: "closed by the test",
});

let m: Machine;
let processes: FakeProcesses;
let contact: Contact;
let time: number;
beforeEach(async () => {
  processes = fakeProcesses();
  m = await machine(({ program, fs }) => fakeRuntime(processes, program, fs));
  await m.provision("1.0.0");
  time = 0;
  contact = createContact({ now: Date.now, monotonic: () => time });
  contact.settle();
});
afterEach(() => m.close());

/** Answers as the list says, then as its last; each question moves the clock by `stepMs`. */
function keeperSaying(answers: readonly Gate[], stepMs = 0): { keeper: GateKeeper; asked: () => number } {
  let asked = 0;
  const ask = (): Gate => {
    time += stepMs;
    return answers[Math.min(asked++, answers.length - 1)]!;
  };
  return {
    asked: () => asked,
    keeper: {
      ask,
      situation: () => {
        throw new Error("not asked for");
      },
      passGate(action) {
        const gate = ask();
        if (gate.kind === "closed") throw new FairleadError(gate.code, gate.reason, { action });
        return gate;
      },
    },
  };
}

interface Watched {
  readonly configs: Readonly<Record<string, string>>;
  readonly busy: (busy: boolean) => void;
  readonly add: () => Promise<"unwritten">;
  readonly authorizeAgain: AuthorizeAgain;
}

async function upgraded(
  keeper: GateKeeper,
  {
    busy = () => undefined,
    add,
    configs = {},
    authorizeAgain = async () => undefined,
  }: Partial<Watched> = {},
) {
  const reports: { verdict?: string; error_code?: string | null }[] = [];
  const runner = createRunner({
    stateDir: m.stateDir,
    programs: { adapter: () => m.adapter(), config: () => m.program } as never,
    authorizeAgain,
    ledger: { pending: () => [], conclude: async () => undefined, noteRejection: async () => undefined },
    outbox: {
      tell: () => undefined,
      add: add ?? (async (_: unknown, body: object) => (reports.push(body), "written")),
    } as never,
    keeper,
    contact,
    clock: { now: Date.now, monotonic: () => (time += 1000) },
    log: silentLogger,
    fs: nodeFileSystem,
    link: () => ({ blob: async () => Buffer.from(Object.values(configs)[0]!) }) as never,
    busy,
    beat: () => undefined,
  });
  runner.start({ job: m.job({ version: "2.0.0", configs }), delivery: null }, never());
  await runner.idle();
  return { verdict: reports[0]?.verdict, code: reports[0]?.error_code };
}

test("ROLL-6: after a verdict that could not be written the agent is not busy any more", async () => {
  const { keeper } = keeperSaying([OPEN]);
  const said: boolean[] = [];
  const add = async () => "unwritten" as const;
  await upgraded(keeper, { busy: (busy) => void said.push(busy), add });
  expect(said).toEqual([true, false]);
});

test("SNAP-9: with the gate open an upgrade runs as ever", async () => {
  const { keeper } = keeperSaying([OPEN]);
  expect(await upgraded(keeper)).toEqual({ verdict: "COMPLETED", code: null });
});

test.each(["DEGRADED_FORBIDDEN", "HEAD_STALE"] as const)(
  "SNAP-9: a control plane that is away for a moment (%s) is waited for before anything stops",
  async (code) => {
    const { keeper } = keeperSaying([closed(code), OPEN]);
    expect(await upgraded(keeper)).toEqual({ verdict: "COMPLETED", code: null });
  },
);

test("SNAP-9: away for longer, the upgrade is given up: nothing was fetched, nothing stopped", async () => {
  const { keeper } = keeperSaying([closed("DEGRADED_FORBIDDEN")], LIMITS.contactLostMs);
  const before = processes.running;
  expect(await upgraded(keeper)).toEqual({ verdict: "FAILED", code: "DEGRADED_FORBIDDEN" });
  expect(processes.running).toBe(before);
  expect(await m.leftOver()).toEqual([]);
});

test("SNAP-16: closed when the program is to be stopped, what was fetched is taken back without asking again", async () => {
  // Two questions before the fetch, two before the stop.
  const { keeper, asked } = keeperSaying([OPEN, OPEN, closed("AUTHORITY_REVOKED")]);
  const before = processes.running;
  expect(await upgraded(keeper)).toEqual({ verdict: "FAILED", code: "AUTHORITY_REVOKED" });
  expect([processes.running, await m.leftOver(), asked()]).toEqual([before, [], 4]);
});

test.each([
  ["a raw secret", "password: hunter2\n", { verdict: "FAILED", code: "CONFIG_SECRET_FOUND" }],
  ["a reference", "password: secret://vault/db\n", { verdict: "COMPLETED", code: null }],
])("SNAP-5: with %s in a config file the upgrade ends as it should", async (what, content, expected) => {
  const before = processes.running;
  const { keeper } = keeperSaying([OPEN]);
  expect(await upgraded(keeper, { configs: { "app.yaml": content } })).toEqual(expected);
  if (what === "a raw secret") expect(processes.running).toBe(before);
});

test.each([
  ["before it begins", false],
  ["before the program is stopped", true],
])("SNAP-16: a job whose authority has ended %s fails, and the program goes on", async (_when, at) => {
  const { keeper } = keeperSaying([OPEN]);
  const before = processes.running;
  const asked: boolean[] = [];
  const authorizeAgain: AuthorizeAgain = async (_pending, begun) => {
    asked.push(begun);
    if (begun === at) throw new FairleadError("INTENT_EXPIRED", "the window closed");
  };
  expect(await upgraded(keeper, { authorizeAgain })).toEqual({ verdict: "FAILED", code: "INTENT_EXPIRED" });
  expect([processes.running, await m.leftOver()]).toEqual([before, []]);
  expect(asked).toEqual(at ? [false, true] : [false]);
});
