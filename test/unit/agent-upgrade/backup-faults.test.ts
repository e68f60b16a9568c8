/** Backups that somebody touched, forged or left behind: each ends in a code, and the node as it was. */
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readActivation } from "../../../src/agent/upgrade/activations.ts";
import { readHold } from "../../../src/agent/upgrade/held.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { around, doing, failingOnce } from "../../support/programs/failing-adapter.ts";
import { fakeRuntime } from "../../support/programs/fake-runtime.ts";
import { faultScene } from "../../support/programs/fault-scene.ts";
import { never, PROFILE } from "../../support/programs/machine.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";

const here = faultScene();
const CONFIGS = { "app.toml": "level = 2\n" };

describe("old backups", () => {
  const root = (): string => join(here.m.program.data_dir, ".upgrade-backup");
  const FOLDER = "old-upgrade/forward.1";

  /** One that is older than all others, and those that push it out. */
  async function oldBackup(): Promise<string> {
    const request = (folder: string) => ({ folder, key: folder, configPaths: [], needed: [] });
    await here.m.adapter().backup(request(FOLDER), never());
    const path = join(root(), FOLDER);
    const manifest = JSON.parse(await readFile(join(path, "manifest.json"), "utf8")) as object;
    const dated = { ...manifest, created_at: "2000-01-01T00:00:00.000Z" };
    await writeFile(join(path, "manifest.json"), JSON.stringify(dated));
    for (let n = 0; n < 5; n++) await here.m.adapter().backup(request(`upgrade-${n}/forward.1`), never());
    return path;
  }

  it("ROLL-9: are removed from their own folder, though a link is laid in its place meanwhile", async () => {
    const path = await oldBackup();
    const victim = join(here.m.root, "victim");
    await mkdir(victim);
    for (const name of ["artifact", "manifest.json", "precious"]) await writeFile(join(victim, name), "x");
    let swapped = false;
    const fs = trippingFileSystem(async (operation) => {
      if (swapped || !operation.startsWith("unlink ") || !operation.endsWith("/manifest.json")) return;
      swapped = true;
      await rename(path, `${path}.away`);
      await symlink(victim, path);
    });
    expect(
      await here.m.upgrade(here.m.job({ version: "2.0.0" }), { adapter: here.m.adapter(fs) }),
    ).toMatchObject({
      verdict: "COMPLETED",
    });
    expect(swapped).toBe(true);
    expect(await readdir(victim)).toEqual(["artifact", "manifest.json", "precious"]);
    expect(await readdir(`${path}.away`)).toEqual([]);
  });

  it("ROLL-9: lose what a backup saves, and nothing else that lies there", async () => {
    const path = await oldBackup();
    await writeFile(join(path, "note-of-the-operator"), "look here");
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect(await readdir(path)).toEqual(["note-of-the-operator"]);
  });

  it("ROLL-9: in a folder that others can write to are left alone", async () => {
    const path = await oldBackup();
    await chmod(path, 0o777);
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect(await readdir(path)).toEqual(["artifact", "manifest.json"]);
  });

  it("ROLL-9: that cannot be removed fail no upgrade, and are told of", async () => {
    await oldBackup();
    const told: unknown[] = [];
    const fs = trippingFileSystem((operation) => {
      if (operation.startsWith("unlink ") && operation.endsWith("/manifest.json")) throw systemError("EIO");
    });
    const log = { warn: (...said: unknown[]) => void told.push(said) };
    const adapter = fakeRuntime(here.world, here.m.program, fs, log);
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      verdict: "COMPLETED",
    });
    expect(told).toMatchObject([["old backups not removed", { error: { code: "EIO" } }]]);
  });
});

describe("the backup", () => {
  const root = (): string => join(here.m.program.data_dir, ".upgrade-backup");

  it("ROLL-9: is refused when its folder is a link", async () => {
    await mkdir(join(here.m.root, "outside"));
    await symlink(join(here.m.root, "outside"), root());
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { code: "PATH_REFUSED", action: "backup_state" },
    });
    await here.expectAsBefore();
  });

  it("ROLL-9: NUL in a folder's name is refused by the adapter too", async () => {
    const request = { folder: "a\0b/forward.1", key: "k", configPaths: [], needed: [] };
    await expect(here.m.adapter().backup(request, never())).rejects.toMatchObject({ code: "PATH_REFUSED" });
    await expect(here.m.adapter().backup({ ...request, folder: "../../etc" }, never())).rejects.toMatchObject(
      {
        code: "PATH_REFUSED",
      },
    );
  });

  it.each([
    ["its manifest is changed", "manifest.json", "{}"],
    ["its manifest is gone", "manifest.json", null],
    ["the saved program is changed", "artifact", "evil"],
    ["the saved program is gone", "artifact", null],
    ["a saved config is changed", "config-0", "evil"],
  ] as const)(
    "ROLL-9: when %s, the way back ends in FAILED_ROLLBACK and starts nothing",
    async (_, name, content) => {
      const job = here.m.job({ version: "2.0.0", configs: CONFIGS });
      const adapter = doing(failingOnce(here.m.adapter(), "reload", "after"), "reload", async () => {
        const path = join(root(), job.rollout_id, "forward.1", name);
        await (content === null ? rm(path) : writeFile(path, content));
      });
      expect(await here.m.upgrade(job, { adapter })).toMatchObject({
        verdict: "FAILED_ROLLBACK",
        compensated: false,
        error: { code: "BACKUP_CORRUPT" },
      });
      expect(here.world.running).toBeNull();
      expect(await readHold(here.m.stateDir, PROFILE)).toMatchObject({ code: "BACKUP_CORRUPT" });
    },
  );

  it("ROLL-9: a whole forged backup, manifest and all, is not restored", async () => {
    const job = here.m.job({ version: "2.0.0" });
    const adapter = doing(failingOnce(here.m.adapter(), "reload", "after"), "reload", async () => {
      const request = {
        folder: `${job.rollout_id}/forward.1`,
        key: `${job.rollout_id}.forward.1`,
        configPaths: [],
        needed: [],
      };
      await writeFile(here.m.program.install_path, helloProgram("6.6.6"));
      await here.m.adapter().backup(request, never());
    });
    expect(await here.m.upgrade(job, { adapter })).toMatchObject({
      verdict: "FAILED_ROLLBACK",
      error: { code: "BACKUP_CORRUPT" },
    });
    expect(here.world.running).toBeNull();
  });

  it("ROLL-9: that the program laid there beforehand, with the right key, is not taken for ours", async () => {
    const job = here.m.job({ version: "2.0.0" });
    const folder = `${job.rollout_id}/forward.1`;
    const request = { folder, key: `${job.rollout_id}.forward.1`, configPaths: [], needed: [] };
    const good = await readFile(here.m.program.install_path);
    await writeFile(here.m.program.install_path, helloProgram("6.6.6"));
    await here.m.adapter().backup(request, never());
    await writeFile(here.m.program.install_path, good);
    const adapter = failingOnce(here.m.adapter(), "reload", "after");
    expect(await here.m.upgrade(job, { adapter })).toMatchObject({ verdict: "FAILED", compensated: true });
    await here.expectAsBefore();
  });

  it("ROLL-9: is taken again after a crash between its end and the checkpoint", async () => {
    const job = here.m.job({ version: "2.0.0" });
    const leaving = new AbortController();
    const adapter = around(here.m.adapter(), "backup", async (work) => {
      await work();
      leaving.abort(new Error("leaving"));
      throw new Error("killed");
    });
    await expect(here.m.upgrade(job, { adapter, signal: leaving.signal })).rejects.toThrow("leaving");
    const failing = failingOnce(here.m.adapter(), "start", "after");
    expect(await here.m.upgrade(job, { adapter: failing })).toMatchObject({
      verdict: "FAILED",
      compensated: true,
    });
    await here.expectAsBefore();
  });

  it("ROLL-9: is refused when its folder is not the agent's alone", async () => {
    await mkdir(root());
    await chmod(root(), 0o777);
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { code: "PATH_REFUSED", action: "backup_state" },
    });
    await here.expectAsBefore();
  });

  it("ROLL-9: is kept while it is among the newest, or a reverse needs it", async () => {
    const first = here.m.job({ version: "2.0.0" });
    await here.m.upgrade(first);
    for (let n = 0; n < 8; n++) {
      await here.m.upgrade(here.m.job({ version: `3.0.${n}` }), {
        adapter: failingOnce(here.m.adapter(), "start", "after"),
      });
    }
    const folders = (
      await Promise.all((await readdir(root())).map(async (id) => readdir(join(root(), id))))
    ).flat();
    expect(folders).toHaveLength(7); // the newest five before the last began, the last, and the needed one
    const back = here.m.job({ version: "1.0.0", direction: "reverse", rollout_id: first.rollout_id });
    here.m.server.put(`/${back.artifact.fingerprint}`, "gone");
    expect(await here.m.upgrade(back)).toMatchObject({ verdict: "COMPLETED" });
  });

  it("ROLL-9: of an earlier rollout with the same upgrade_id is set aside, not used", async () => {
    await here.m.upgrade(here.m.job({ version: "2.0.0", upgrade_id: "to-2" }));
    await here.m.upgrade(here.m.job({ version: "1.0.0" }));
    const again = here.m.job({ version: "2.0.0", upgrade_id: "to-2" });
    expect(await here.m.upgrade(again)).toMatchObject({ verdict: "COMPLETED" });
    expect((await readActivation(here.m.stateDir, PROFILE))?.previous?.backup?.folder).toBe("to-2/forward.1");
    const manifest = JSON.parse(
      await readFile(join(root(), "to-2", "forward.1", "manifest.json"), "utf8"),
    ) as { key: string };
    expect(manifest.key).toBe(`${again.rollout_id}.forward.1`);
    expect(await readFile(join(root(), "to-2", "forward.1.old-1", "manifest.json"), "utf8")).toContain(
      "forward.1",
    );
  });
});
