/** No room for the agent's own files, from some write of an upgrade on: nothing runs that is neither old nor new. */
import { describe, expect, it } from "vitest";
import { resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import { AFTER, BEFORE, diskScene, runTrapped } from "../../support/docker/disk-scene.ts";
import { around, failingAlways } from "../../support/programs/failing-adapter.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";

describe("a disk under a docker program", () => {
  it.each([
    ["full for good", /^(write|mkdir) /],
    ["full for good where checkpoints and verdicts are", /^(write|mkdir) .*\/state\/upgrades\//],
  ])(
    "ROLL-5: that is %s leaves a whole version running or nothing, and works on once there is room",
    async (_, refused) => {
      let index = 0;
      for (; ; index += 1) {
        const one = await diskScene();
        const { m, disk } = one;
        const expectWhole = async (): Promise<void> => {
          const { runs, configs } = await one.stateOf();
          if (runs === null) return;
          const seen = { installed: runs, runs, configs };
          expect([one.old, one.new], `at ${index}`).toContainEqual(seen);
        };
        let writes = 0;
        await runTrapped(one, (operation) => {
          if (refused.test(operation) && writes++ >= index) throw systemError("ENOSPC");
        });
        if (writes <= index) break;
        await one.ensure();
        await expectWhole();
        // A verdict that could not be stored could not be sent either: the job comes again.
        for (const job of await resumable(m.stateDir, disk)) await m.upgrade(job, { fs: disk });
        await expectWhole();
        const next = m.job({ version: "3.0.0", configs: AFTER });
        expect(await m.upgrade(next, { fs: disk })).toMatchObject({ verdict: "COMPLETED" });
        expect(await one.stateOf()).toEqual(one.whole("3.0.0", AFTER));
      }
      expect(index).toBeGreaterThan(10);
    },
  );

  it("ROLL-5: that could not note how far a way back came leads no later agent to a mixture", async () => {
    const one = await diskScene();
    const { m, disk, job } = one;
    let isFull = false;
    const fs = trippingFileSystem((operation) => {
      if (isFull && /^(write|mkdir) .*\/state\/upgrades\//.test(operation)) throw systemError("ENOSPC");
    }, disk);
    const starting = around(m.adapter(fs), "start", async () => {
      isFull = true;
      throw new Error("it does not start");
    });
    const outcome = await m.upgrade(job, { fs, adapter: failingAlways(starting, "restore") });
    expect(outcome).toMatchObject({ verdict: "FAILED_ROLLBACK", error: { action: "install_artifact" } });
    expect(await one.stateOf()).toMatchObject({ runs: null, configs: BEFORE });
    expect(await one.ensure()).toBe("upgrade_unfinished");
    expect(await m.upgrade(job, { fs: disk })).toMatchObject({ verdict: "COMPLETED" });
    expect(await one.stateOf()).toEqual(one.new);
  });
});
