/** The drop-in that keeps a stopped program off counts only once systemd has read it. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { failingAlways, failingOnce } from "../../support/programs/failing-adapter.ts";
import { FAKE_UNIT, type FakeUnit, fakeUnit, pretended } from "../../support/programs/fake-systemd.ts";
import { type Machine, machine, type MachineParts, never, PROFILE } from "../../support/programs/machine.ts";

const HOLD = "90-fairlead-stopped.conf";

let world: FakeUnit;
/** The drop-ins that systemd has read. */
let known: string[];
/** Runs when systemd is asked to start the unit. */
let atStart: () => Promise<void>;
let m: Machine;
beforeEach(async () => {
  world = fakeUnit();
  known = [];
  atStart = async () => undefined;
  m = await machine(reading, { surroundings: FAKE_UNIT });
  await m.provision("1.0.0");
});
afterEach(async () => m.close());

function reading({ program, stateDir }: MachineParts) {
  if (program.runtime !== "systemd") throw new Error("not a unit");
  const systemdDir = join(stateDir, "systemd");
  const dropIns = join(systemdDir, `${program.unit}.d`);
  const unit = pretended(world, program, async () => readFile(join(dropIns, "50-fairlead.conf"), "utf8"));
  const systemd = {
    ...unit,
    start: async (...args: Parameters<typeof unit.start>) => {
      await atStart();
      return unit.start(...args);
    },
    daemonReload: async () => void (known = await readdir(dropIns).catch(() => [])),
  };
  const common = { profile: PROFILE, program, stateDir, clock: systemClock };
  return systemdAdapter({ ...common, systemdDir, systemd, settleMs: 0 });
}

describe("a unit that was stopped", () => {
  it("ROLL-8: is held as far as systemd knows, when the stop returns", async () => {
    expect(known).not.toContain(HOLD);
    await m.adapter().stop(never());
    expect(known).toContain(HOLD);
  });

  it("ROLL-8: is held although the agent that wrote the hold was killed before systemd read it", async () => {
    await m.adapter().stop(never());
    known = [];
    await m.adapter().stop(never());
    expect(known).toContain(HOLD);
  });

  it("ROLL-5: stays held after an upgrade that could not be taken back", async () => {
    const adapter = failingAlways(failingOnce(m.adapter(), "install", "after"), "restore");
    expect(await m.upgrade(m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
    });
    expect(known).toContain(HOLD);
  });
});

it("ROLL-8: a unit whose file is replaced while systemd starts it is refused: it runs other bytes than the signed ones", async () => {
  const fingerprint = (await m.adapter().measure())!;
  const request = { key: "k", fingerprint, run: m.program.run };
  await m.adapter().stop(never());
  atStart = () => writeFile(m.program.install_path, "other");
  await expect(m.adapter().start(request, never())).rejects.toMatchObject({
    code: "ARTIFACT_DIGEST_MISMATCH",
  });
});
