/** Artifacts and configs that are not what was signed, or not where they should be (the fault list's Agent group). */
import { mkdir, readFile, readlink, rename, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { doing } from "../../support/programs/failing-adapter.ts";
import { faultScene } from "../../support/programs/fault-scene.ts";
import { systemError, trippingFileSystem } from "../../support/programs/tripping-file-system.ts";

const here = faultScene();
const CONFIGS = { "app.toml": "level = 2\n" };

describe("the artifact", () => {
  it("ROLL-4: other bytes than the signed ones are never kept", async () => {
    const job = here.m.job({ version: "2.0.0" });
    here.m.server.put(`/${job.artifact.fingerprint}`, helloProgram("6.6.6"));
    expect(await here.m.upgrade(job)).toMatchObject({
      verdict: "FAILED",
      error: { code: "ARTIFACT_DIGEST_MISMATCH", action: "acquire_artifact" },
    });
    await here.expectAsBefore();
  });

  it("RAUC: a file swapped after it was verified is not installed", async () => {
    const job = here.m.job({ version: "2.0.0" });
    const download = join(here.m.root, "bin", ".download-hello");
    const adapter = doing(here.m.adapter(), "install", async () => {
      await writeFile(`${download}.evil`, helloProgram("6.6.6"), { mode: 0o755 });
      await rename(`${download}.evil`, download);
    });
    expect(await here.m.upgrade(job, { adapter })).toMatchObject({
      verdict: "FAILED",
      error: { code: "ARTIFACT_DIGEST_MISMATCH", action: "install_artifact" },
    });
    await here.expectAsBefore();
  });

  it("RAUC: a file swapped in the moment of the rename is found by its inode", async () => {
    const job = here.m.job({ version: "2.0.0" });
    const download = join(here.m.root, "bin", ".download-hello");
    let swapped = false;
    const fs = trippingFileSystem(async (operation) => {
      if (swapped || !operation.endsWith("rename " + here.m.program.install_path)) return;
      swapped = true;
      await writeFile(`${download}.evil`, helloProgram("6.6.6"), { mode: 0o755 });
      await rename(`${download}.evil`, download);
    });
    expect(await here.m.upgrade(job, { adapter: here.m.adapter(fs) })).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code: "ARTIFACT_DIGEST_MISMATCH", action: "install_artifact" },
    });
    expect(swapped).toBe(true);
    await here.expectAsBefore();
  });

  it("ROLL-4: an install path that is a link is refused, and what it points to stays", async () => {
    const elsewhere = join(here.m.root, "elsewhere");
    await rename(here.m.program.install_path, elsewhere);
    await symlink(elsewhere, here.m.program.install_path);
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({
      verdict: "FAILED",
      error: { code: "PATH_REFUSED" },
    });
    expect(await readFile(elsewhere, "utf8")).toBe(helloProgram("1.0.0"));
  });

  it("ROLL-4: a link laid at the install path after the backup is refused by the install, and not replaced", async () => {
    const elsewhere = join(here.m.root, "elsewhere");
    const adapter = doing(here.m.adapter(), "install", async () => {
      await rename(here.m.program.install_path, elsewhere);
      await symlink(elsewhere, here.m.program.install_path);
    });
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }), { adapter })).toMatchObject({
      error: { code: "PATH_REFUSED", action: "install_artifact" },
    });
    expect(await readlink(here.m.program.install_path)).toBe(elsewhere);
    expect(await readFile(elsewhere, "utf8")).toBe(helloProgram("1.0.0"));
  });

  it("ROLL-4: a link laid at the download's name is replaced, not followed", async () => {
    const victim = join(here.m.root, "victim");
    await writeFile(victim, "precious");
    await symlink(victim, join(here.m.root, "bin", ".download-hello"));
    expect(await here.m.upgrade(here.m.job({ version: "2.0.0" }))).toMatchObject({ verdict: "COMPLETED" });
    expect(await readFile(victim, "utf8")).toBe("precious");
  });

  it.each([
    ["EXDEV", "ACTION_FAILED"],
    ["ENOSPC", "DISK_FULL"],
    ["EIO", "ACTION_FAILED"],
  ])("ROLL-5: %s at the rename into place is %s, and taken back", async (errno, code) => {
    let failed = false;
    const fs = trippingFileSystem((operation) => {
      if (failed || operation !== `rename ${here.m.program.install_path}`) return;
      failed = true;
      throw systemError(errno);
    });
    const outcome = await here.m.upgrade(here.m.job({ version: "2.0.0", configs: CONFIGS }), {
      adapter: here.m.adapter(fs),
    });
    expect(outcome).toMatchObject({
      verdict: "FAILED",
      compensated: true,
      error: { code, action: "install_artifact" },
    });
    await here.expectAsBefore();
  });
});

describe("configs", () => {
  it("ROLL-17: other bytes than the signed ones are refused before anything stops", async () => {
    const fetchConfig = async (): Promise<Uint8Array> => Buffer.from("level = 666\n");
    const outcome = await here.m.upgrade(here.m.job({ version: "2.0.0", configs: CONFIGS }), { fetchConfig });
    expect(outcome).toMatchObject({
      verdict: "FAILED",
      error: { code: "CONFIG_DIGEST_MISMATCH", action: "acquire_artifact" },
    });
    await here.expectAsBefore();
  });

  it("ROLL-17: a folder that is a link leads nowhere", async () => {
    const outside = join(here.m.root, "outside");
    await mkdir(outside);
    await symlink(outside, join(here.m.program.config_dir, "peers"));
    const job = here.m.job({ version: "2.0.0", configs: { "peers/list.toml": "x" } });
    expect(await here.m.upgrade(job)).toMatchObject({ verdict: "FAILED", error: { code: "PATH_REFUSED" } });
    expect(here.world.running?.fingerprint).toBe(here.installed);
  });
});
