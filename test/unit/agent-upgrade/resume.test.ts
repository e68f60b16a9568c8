/** What a restarted agent may go on with (SNAP-16): the checks of a resumed job are those of a new one. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import {
  commandedMachine,
  type Launch,
  OPEN_GATE,
  type CommandedMachine,
} from "../../support/programs/commanded-machine.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";
import {
  HOUR_MS,
  assignmentFrame,
  at,
  upgrading,
  fingerprint,
  bundleFrame,
  bundleOf,
  newSigner,
} from "../../support/trust.ts";

let c: CommandedMachine;
beforeEach(async () => {
  c = await commandedMachine();
});
afterEach(async () => c.close());

/** Every write fails while `isFull`; unlinks and renames work, as on a real full disk. */
function fullDisk() {
  const state = { isFull: false };
  const fs = trippingFileSystem((operation) => {
    if (state.isFull && operation.startsWith("write ")) throw systemError("ENOSPC");
  });
  return { state, fs };
}

test("SNAP-16: a job that failed on a full disk is not run by a later restart, after a newer upgrade", async () => {
  const { state, fs } = fullDisk();
  await c.replaceDisk(fs);
  const first = await c.launch({ version: "2.0.0" });
  state.isFull = true; // accepted, and no write succeeds from here on
  await c.idle();
  expect(c.row.verdicts.get(first.commandId)).toEqual(["FAILED"]);
  state.isFull = false;
  await c.launch({ version: "3.0.0" });
  await c.idle();
  expect([c.running(), c.row.version]).toEqual(["3.0.0", "3.0.0"]);

  await c.restart({ reboot: true });
  expect([c.running(), await c.installed(), c.row.version]).toEqual(["3.0.0", "3.0.0", "3.0.0"]);
  expect(c.row.verdicts.get(first.commandId)).toEqual(["FAILED"]);
});

test("SNAP-16: a job whose verdict was delivered from memory is not run again by the next agent", async () => {
  const { state, fs } = fullDisk();
  await c.replaceDisk(fs);
  const { commandId } = await c.launch({ version: "2.0.0" });
  state.isFull = true;
  await c.idle();
  expect(c.row.verdicts.get(commandId)).toEqual(["FAILED"]);
  await c.restart(); // the disk has room again, the command has not expired, and nothing newer came
  expect([c.running(), c.row.version]).toEqual(["1.0.0", "1.0.0"]);
  expect(c.row.verdicts.get(commandId)).toEqual(["FAILED"]);
});

test("ROLL-6: a job that was accepted and not begun is run by the next agent while its command is valid", async () => {
  await acceptedOnly("2.0.0");
  await c.restart();
  expect([c.running(), c.row.version]).toEqual(["2.0.0", "2.0.0"]);
});

/** Accepted and durable, and the agent is killed before the job begins. */
async function acceptedOnly(version: string, more: Partial<Launch> = {}) {
  const { start } = c.agent().runner;
  c.agent().runner.start = () => undefined;
  const launched = await c.launch({ version, ...more });
  c.agent().runner.start = start;
  expect(launched.received).toBe("accepted");
  return launched;
}

test.each([
  ["COMMAND_EXPIRED", "its command expired", async (): Promise<void> => void (c.world.now += HOUR_MS / 4)],
  [
    "INTENT_SERIAL_OLD",
    "it was cancelled",
    async (): Promise<void> => void (await c.agent().cancel(c.cancelFrame())),
  ],
  [
    "COMMAND_UNTRUSTED",
    "its key left the trust bundle",
    async (): Promise<void> => {
      const bundle = bundleOf({ ...c.keys, online: newSigner() });
      await c.agent().snapshots.apply(bundleFrame(c.keys, { bundle, header: { config_version: 2 } }));
    },
  ],
  [
    "ASSIGNMENT_MISMATCH",
    "its assignment names something else",
    async (): Promise<void> => {
      const content = { assignments: [upgrading({ target: fingerprint("else"), intent_digest: null })] };
      const header = { config_version: 9, issued_at: at(c.world.now) };
      await c.agent().snapshots.apply(assignmentFrame(c.keys, { header, content }));
    },
  ],
] as const)("SNAP-16: a job is not begun after a restart when %s: %s", async (code, _, change) => {
  const { commandId } = await acceptedOnly("2.0.0");
  await change();
  await c.restart();
  expect([c.running(), c.row.version]).toEqual(["1.0.0", "1.0.0"]);
  expect(c.row.verdicts.get(commandId)).toEqual(["FAILED"]);
  expect(c.lastError()).toBe(code);
  expect(c.agent().ledger.pending()).toEqual([]);
});

test("SNAP-16: of two jobs for a profile that were accepted and not begun, only the newer one runs", async () => {
  const older = await acceptedOnly("2.0.0");
  const newer = await acceptedOnly("3.0.0");
  await c.restart();
  expect(c.row.verdicts.get(older.commandId)).toEqual(["FAILED"]);
  expect(c.row.verdicts.get(newer.commandId)).toEqual(["COMPLETED"]);
  expect([c.running(), c.row.version]).toEqual(["3.0.0", "3.0.0"]);
});

test("SNAP-16: of two attempts of one intent that were accepted and not begun, only the newer one runs", async () => {
  const older = await acceptedOnly("2.0.0");
  const newer = await acceptedOnly("2.0.0", { attempt: 2, of: older });
  await c.restart();
  expect(c.row.verdicts.get(older.commandId)).toEqual(["FAILED"]);
  expect(c.row.verdicts.get(newer.commandId)).toEqual(["COMPLETED"]);
  expect(c.processes.instances.at(-1)).toMatch(/\.forward\.2\.\d+$/);
});

test("ROLL-6: a verdict that neither the disk took nor the server heard is not lost: the next agent runs the job again", async () => {
  const { state, fs } = fullDisk();
  await c.replaceDisk(fs);
  c.world.there = false;
  const { commandId } = await c.launch({ version: "2.0.0" });
  state.isFull = true;
  await c.idle();
  expect(c.row.verdicts.get(commandId)).toBeUndefined();
  await c.agent().stop();
  c.world.there = true;
  await c.restart();
  expect(c.row.verdicts.get(commandId)).toEqual(["COMPLETED"]);
  expect([c.running(), c.row.version]).toEqual(["2.0.0", "2.0.0"]);
});

/** Changes something between the fetch and the stop of the next upgrade. */
function beforeStop(change: () => void): void {
  let asked = 0;
  c.world.keeper = {
    ...OPEN_GATE,
    passGate: () => {
      asked += 1;
      if (asked === 2) change(); // (the acceptance has passed the gate already)
      return OPEN_GATE.passGate();
    },
  };
}

test.each([
  ["INTENT_EXPIRED", "intent's window", 24 * HOUR_MS],
  ["ASSIGNMENT_EXPIRED", "assignment", 24 * HOUR_MS],
] as const)("SNAP-16: no program is stopped when %s: its %s ended during the fetch", async (code, _, ms) => {
  const before = c.processes.running;
  if (code === "ASSIGNMENT_EXPIRED") c.intentLivesFor(48 * HOUR_MS);
  else c.assignmentLivesFor(48 * HOUR_MS);
  const { commandId } = await acceptedOnly("2.0.0");
  beforeStop(() => void (c.world.now += ms));
  await c.restart();
  expect([c.row.verdicts.get(commandId), c.lastError()]).toEqual([["FAILED"], code]);
  expect(c.processes.running).toBe(before);
});

test("SNAP-16: a service assignment revoked during the fetch stops no program", async () => {
  const before = c.processes.running;
  const { commandId } = await acceptedOnly("2.0.0");
  beforeStop(() => {
    throw new FairleadError("AUTHORITY_REVOKED", "revoked by the test");
  });
  await c.restart();
  expect([c.row.verdicts.get(commandId), c.lastError()]).toEqual([["FAILED"], "AUTHORITY_REVOKED"]);
  expect(c.processes.running).toBe(before);
});

test("ROLL-6: a success whose verdict the disk refused is not taken back by a restart after its deadline", async () => {
  let isFull = false;
  const fs = trippingFileSystem((operation) => {
    if (operation.includes("/upgrades/activations/") && operation.startsWith("rename ")) isFull = true;
    else if (isFull && operation.startsWith("write ")) throw systemError("ENOSPC");
  });
  await c.replaceDisk(fs);
  c.world.there = false;
  const { commandId } = await c.launch({ version: "2.0.0" });
  await c.idle();
  expect([c.running(), isFull]).toEqual(["2.0.0", true]);
  c.world.now += LIMITS.scheduleToCloseMs + 1;
  c.world.there = true;
  await c.restart({ reboot: true });
  expect([c.running(), await c.installed(), c.row.version]).toEqual(["2.0.0", "2.0.0", "2.0.0"]);
  expect(new Set(c.row.verdicts.get(commandId))).toEqual(new Set(["COMPLETED"]));
});

test("ROLL-5: a checkpoint that could not be removed blocks neither the next upgrade nor the start after a reboot", async () => {
  for (const next of ["upgrade", "reboot"] as const) {
    let broken = false;
    const fs = trippingFileSystem((operation) => {
      if (operation === `rename ${c.m.program.install_path}` && !broken) {
        broken = true;
        throw systemError("EIO");
      }
      const touched = /upgrades\/(active|completed)/.test(operation);
      if (broken && touched && !operation.startsWith("sync")) throw systemError("EIO");
    });
    await c.replaceDisk(fs);
    await c.launch({ version: "2.0.0" });
    await c.idle();
    expect([broken, c.running(), c.row.version]).toEqual([true, "1.0.0", "1.0.0"]);
    await (next === "reboot"
      ? c.restart({ reboot: true })
      : c.replaceDisk(trippingFileSystem(() => undefined)));
    expect(c.running()).toBe("1.0.0");
    await c.launch({ version: "3.0.0" });
    await c.idle();
    expect([c.running(), c.row.version]).toEqual(["3.0.0", "3.0.0"]);
    await c.close();
    c = await commandedMachine();
  }
});
