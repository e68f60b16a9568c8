/** For how long an upgrade goes on from its checkpoints: files are real, the program is pretended, time is the test's. */
import { afterEach, beforeEach, expect, it } from "vitest";
import type { UpgradeOutcome } from "../../../src/agent/upgrade/completed-store.ts";
import type { Digest } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { type ActionName, UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { type Machine, machine } from "../../support/programs/machine.ts";

const MINUTE_MS = 60_000;
const NAMES = UPGRADE_ACTIONS.map(({ name }) => name);

let m: Machine;
let world: FakeProcesses;
let before: Digest | null;
let job: UpgradeJob;
beforeEach(async () => {
  world = fakeProcesses();
  m = await machine(({ program, fs }) => fakeRuntime(world, program, fs));
  await m.provision("1.0.0", {});
  before = await m.installed();
  job = m.job({ version: "2.0.0" });
});
afterEach(() => m.close());

interface Resumed {
  readonly outcome: UpgradeOutcome;
  /** What the second agent reported that it begins. */
  readonly begun: readonly ActionName[];
}

/** The agent leaves at this action, and another one finds its checkpoints so much later. */
async function resumedAfter(action: ActionName, ms: number): Promise<Resumed> {
  let now = Date.UTC(2026, 0, 31);
  const clock = { now: () => now, monotonic: () => now };
  const leaving = new AbortController();
  const onProgress = ({ action_name }: { readonly action_name: ActionName }): void => {
    if (action_name === action) leaving.abort(new Error("leaving"));
  };
  await expect(m.upgrade(job, { clock, signal: leaving.signal, onProgress })).rejects.toThrow("leaving");
  now += ms;
  const begun: ActionName[] = [];
  const outcome = await m.upgrade(job, { clock, onProgress: (each) => void begun.push(each.action_name) });
  return { outcome, begun };
}

it.each(NAMES)(
  "ROLL-6: from checkpoints of ten minutes ago at %s it goes back, and begins nothing",
  async (action) => {
    const { outcome, begun } = await resumedAfter(action, 10 * MINUTE_MS);
    expect(outcome).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "DEADLINE_PASSED" },
    });
    expect(begun).toEqual([]);
    expect([await m.installed(), world.running?.fingerprint]).toEqual([before, before]);
  },
);

it("ROLL-6: from younger ones it goes on where it stood", async () => {
  const { outcome, begun } = await resumedAfter("install_artifact", 9 * MINUTE_MS);
  expect(outcome).toMatchObject({ verdict: "COMPLETED" });
  expect(begun).toEqual(NAMES.slice(NAMES.indexOf("install_artifact")));
  expect(world.running?.fingerprint).toBe(job.artifact.fingerprint);
});
