/** Backups of a docker program that somebody touched or forged; its engine is pretended, its files are real. */
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import { type PretendedDocker, pretendedDocker } from "../../support/docker/pretended-machine.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";
import { doing, failingOnce } from "../../support/programs/failing-adapter.ts";

const CONFIGS = { "app.toml": "level = 2\n" };

let m: PretendedDocker;
beforeEach(async () => {
  m = pretendedDocker(await mkdtemp(join(tmpdir(), "fairlead-docker-backup-")));
  for (const name of ["data", "config", "state"]) await mkdir(join(m.root, name));
  await writeFile(join(m.program.config_dir, "app.toml"), "level = 1\n");
  await m.provision("1.0.0");
});
afterEach(async () => rm(m.root, { recursive: true, force: true }));

const root = (): string => join(m.program.data_dir, ".upgrade-backup");
const running = async () => (await m.adapter().running())?.fingerprint ?? null;
/** The containers that there are, and whether each is on. */
const containers = () => m.world.containers.map(({ Id, Name, State }) => ({ Id, Name, on: State.Running }));

async function expectRefused(job: ReturnType<PretendedDocker["job"]>, before: unknown): Promise<void> {
  expect(await m.upgrade(job)).toMatchObject({
    verdict: "FAILED",
    error: { code: "PATH_REFUSED", action: "backup_state" },
  });
  expect(containers()).toEqual(before);
  expect(m.world.starts).toHaveLength(1); // nothing was stopped meanwhile
}

describe("the backup of a docker program", () => {
  it("ROLL-9: is refused when its folder is a link", async () => {
    const before = containers();
    await mkdir(join(m.root, "outside"));
    await symlink(join(m.root, "outside"), root());
    await expectRefused(m.job({ version: "2.0.0" }), before);
  });

  it("ROLL-9: is refused when its folder is not the agent's alone", async () => {
    const before = containers();
    await mkdir(root());
    await chmod(root(), 0o777);
    await expectRefused(m.job({ version: "2.0.0" }), before);
  });

  it.each([
    ["its manifest is changed", "manifest.json", "{}"],
    ["its manifest is gone", "manifest.json", null],
    ["the saved container is changed", "artifact", "{}"],
    ["the saved container is gone", "artifact", null],
    ["a saved config is changed", "config-0", "evil"],
  ] as const)(
    "ROLL-9: when %s, the way back ends in FAILED_ROLLBACK and starts nothing",
    async (_, name, content) => {
      const job = m.job({ version: "2.0.0", configs: CONFIGS });
      const adapter = doing(failingOnce(m.adapter(), "reload", "after"), "reload", async () => {
        const path = join(root(), job.rollout_id, "forward.1", name);
        await (content === null ? rm(path) : writeFile(path, content));
      });
      expect(await m.upgrade(job, { adapter })).toMatchObject({
        verdict: "FAILED_ROLLBACK",
        compensated: false,
        error: { code: "BACKUP_CORRUPT", action: "write_configs" },
      });
      expect(await running()).toBeNull();
      expect(await readHold(m.stateDir, PROFILE)).toMatchObject({ code: "BACKUP_CORRUPT" });
    },
  );

  it.each([
    ["while it runs", "FAILED_ROLLBACK", "BACKUP_CORRUPT"],
    ["beforehand", "FAILED", "ACTION_FAILED"],
  ] as const)("ROLL-9: forged %s, manifest and all, is not restored", async (when, verdict, code) => {
    const job = m.job({ version: "2.0.0" });
    /** A backup of another container, as whole as ours, under our job's name. */
    const forge = async (): Promise<void> => {
      const other = pretendedDocker(m.root);
      await other.provision("6.6.6");
      const request = { folder: `${job.rollout_id}/forward.1`, key: `${job.rollout_id}.forward.1` };
      await other.adapter().backup({ ...request, configPaths: [], needed: [] }, never());
    };
    if (when === "beforehand") await forge();
    const failing = failingOnce(m.adapter(), "reload", "after");
    const adapter = when === "beforehand" ? failing : doing(failing, "reload", forge);
    expect(await m.upgrade(job, { adapter })).toMatchObject({ verdict, error: { code } });
    expect(
      m.world.containers.some(({ Config }) => String(Config["Image"]).includes(m.imageOf("6.6.6"))),
    ).toBe(false);
    expect(await running()).toBe(when === "beforehand" ? m.imageOf("1.0.0") : null);
  });
});
