/** Backups on every runtime (ROLL-9): what was altered after it was saved is found, and nothing of it is put in place. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { resumable } from "../../../src/agent/upgrade/checkpoints.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import type { Method } from "../../support/programs/failing-adapter.ts";
import { doing, failingOnce } from "../../support/programs/failing-adapter.ts";
import { type ContractMachine, never, PROFILE } from "../../support/programs/contract-machine.ts";

/** One bit in the middle: neither the length nor, for most files, the syntax tells. */
async function alter(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

interface AlteredCase {
  readonly file: string;
  /** The way back is here when the file is altered. */
  readonly at: Method;
  readonly action: string;
  readonly configs: "before" | "after";
}

const ALTERED: Readonly<Record<string, AlteredCase>> = {
  "a saved config": { file: "config-0", at: "restoreConfigs", action: "write_configs", configs: "after" },
  "the saved program": { file: "artifact", at: "restore", action: "install_artifact", configs: "before" },
};

export function backupCases(
  machine: () => ContractMachine,
  before: Readonly<Record<string, string>>,
  after: Readonly<Record<string, string>>,
): void {
  const folderOf = (folder: string): string => join(machine().program.data_dir, ".upgrade-backup", folder);

  it("ROLL-9: a backup is refused for any file of it that was altered, and taken again once it is right", async () => {
    const adapter = machine().adapter();
    const installed = await machine().installed();
    const configPaths = ["app.toml", "not-there.toml"];
    const ref = await adapter.backup({ folder: "u/forward.1", key: "k", configPaths, needed: [] }, never());
    const names = await readdir(folderOf(ref.folder));
    expect(names).toEqual(expect.arrayContaining(["artifact", "config-0", "manifest.json"]));
    for (const name of names) {
      const path = join(folderOf(ref.folder), name);
      const good = await readFile(path);
      await alter(path);
      const refused = { code: "BACKUP_CORRUPT" };
      await expect(adapter.readBackup(ref), name).rejects.toMatchObject(refused);
      await expect(adapter.restore(ref, never()), name).rejects.toMatchObject(refused);
      await expect(adapter.restoreConfigs(ref, never()), name).rejects.toMatchObject(refused);
      await writeFile(path, good);
    }
    expect(await adapter.readBackup(ref)).toMatchObject({
      key: "k",
      ran: true,
      artifact: { sha256: installed },
      configs: [{ path: "app.toml" }],
      absent: ["not-there.toml"],
    });
  });

  it.each(Object.entries(ALTERED))(
    "ROLL-9: %s that was altered is not put back: the verdict is FAILED_ROLLBACK, and nothing is started",
    async (_, { file, at, action, configs }) => {
      const m = machine();
      const job = m.job({ version: "2.0.0", configs: after });
      const failing = failingOnce(m.adapter(), "start", "before");
      const adapter = doing(failing, at, async () =>
        alter(join(folderOf(`${job.rollout_id}/forward.1`), file)),
      );
      expect(await m.upgrade(job, { adapter })).toMatchObject({
        verdict: "FAILED_ROLLBACK",
        compensated: false,
        error: { code: "BACKUP_CORRUPT", action },
      });
      expect(await m.installed()).toBe(job.artifact.fingerprint);
      expect(await m.configs()).toEqual(configs === "before" ? before : { ...before, ...after });
      expect(await m.adapter().isRunning()).toBe(false);
      expect(await m.starts()).toHaveLength(1);
      expect(await readHold(m.stateDir, PROFILE)).toMatchObject({ code: "BACKUP_CORRUPT", action });
      expect(await resumable(m.stateDir)).toEqual([]);
    },
  );
}
