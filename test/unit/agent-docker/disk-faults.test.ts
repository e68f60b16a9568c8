/**
 * The agent's own files while it upgrades a container: notes, checkpoints, backups, configs. The disk fails at each
 * change to them in turn.
 */
import { describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import { type DiskScene, diskScene, runTrapped } from "../../support/docker/disk-scene.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";
import { failsOnceAt } from "../../support/programs/tripping-file-system.ts";

/** What a node needs for its next upgrade, and for the way back from that one. */
async function expectGoesOn({ m, disk, stateOf, whole }: DiskScene): Promise<void> {
  const { installed, configs } = await stateOf();
  const next = m.job({ version: "3.0.0", configs: { "app.toml": "level = 3\n" } });
  expect(await m.upgrade(next, { fs: disk })).toMatchObject({ verdict: "COMPLETED", error: null });
  expect(await stateOf()).toEqual(whole("3.0.0", { ...configs, "app.toml": "level = 3\n" }));
  expect(m.leftOver()).toEqual([]);
  const previous = (await readActivation(m.stateDir, PROFILE, disk))?.previous;
  expect(previous).toMatchObject({ fingerprint: installed });
  expect(await m.adapter(disk).readBackup(previous!.backup!)).toMatchObject({
    artifact: { sha256: installed },
  });
}

describe("the disk under a docker program", () => {
  it("ROLL-5: holds the adapter's notes, the container's description, the backup, configs and checkpoints", async () => {
    const renamed: string[] = [];
    await runTrapped(await diskScene(), (operation) => void renamed.push(operation));
    for (const path of [
      "state/programs/hello-mainnet/docker.json",
      "state/programs/hello-mainnet/container.json",
      "state/upgrades/active/hello-mainnet.json",
      "config/app.toml",
    ])
      expect(renamed).toContain(`rename /machine/${path}`);
    expect(renamed.join("\n")).toMatch(/rename .*\.upgrade-backup\/.*\/manifest\.json/);
  });

  // Where a disk fails matters more than how: one error at every place, the other at some.
  it.each([
    ["EIO", 1],
    ["ENOSPC", 7],
  ])(
    "ROLL-5: with %s at any change ends in the new state or in the old one, with all that the next upgrade needs",
    async (errno, stride) => {
      let index = 0;
      for (; ; index += stride) {
        const one = await diskScene();
        const { outcome, reached } = await runTrapped(one, failsOnceAt(index, errno));
        if (reached < index) break;
        expect(outcome.verdict, `at ${index}`).toMatch(/^(FAILED|COMPLETED)$/);
        expect(await one.stateOf()).toEqual(outcome.verdict === "COMPLETED" ? one.new : one.old);
        expect(await one.adapter.isSupervised()).toBe(true);
        expect(await readHold(one.m.stateDir, PROFILE, one.disk)).toBeNull();
        await one.adapter.stop(never());
        expect(await one.ensure()).toBe("started"); // as after a reboot
        await expectGoesOn(one);
      }
      expect(index).toBeGreaterThan(100);
    },
  );
});
