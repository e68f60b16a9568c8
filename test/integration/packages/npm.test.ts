// The npm package as a stranger installs it: packed, and put into an empty prefix with what npm finds for it.

import { spawnSync } from "node:child_process";
import { chmod, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { inRoot } from "../../../scripts/root.mjs";
import { EXIT } from "../../../src/core/error-codes.ts";
import { FAIRLEAD_VERSION } from "../../../src/core/version.ts";
import { spawnChild } from "../../../src/host/process.ts";
import { stopProcess } from "../../../src/host/process-identity.ts";
import { freePort } from "../../support/programs/free-port.ts";

const NPM = ["--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline", "--loglevel=error"];

let folder: string;
const env = () => ({
  ...process.env,
  PATH: `${join(folder, "prefix/bin")}:${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
  HOME: folder,
  npm_config_cache: process.env["npm_config_cache"] ?? join(process.env["HOME"] ?? "/root", ".npm"),
});

function run(command: string, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, env: env(), encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
  return stdout;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "fl-npm-"));
  await chmod(folder, 0o711);
  const packed = spawnSync("npm", ["pack", "--silent", "--pack-destination", folder], {
    cwd: inRoot("."),
    env: process.env,
    encoding: "utf8",
  });
  expect(packed.status, packed.stderr).toBe(0);
  run(
    "npm",
    "install",
    "--global",
    "--prefix",
    join(folder, "prefix"),
    ...NPM,
    `./fairlead-${FAIRLEAD_VERSION}.tgz`,
  );
}, 600_000);
afterAll(() => rm(folder, { recursive: true, force: true }));

test("USE-7: the installed package brings what runs and no development tool", async () => {
  const installed = join(folder, "prefix/lib/node_modules/fairlead");
  expect((await readdir(installed)).toSorted()).toEqual(
    ["LICENSE", "README.md", "bin", "dist", "lib", "node_modules", "package.json", "scripts"].toSorted(),
  );
  const modules = await readdir(join(installed, "node_modules"));
  expect(modules).toContain("fastify");
  for (const tool of ["vitest", "rolldown", "vite", "oxlint", "react", "postject"])
    expect(modules).not.toContain(tool);
});

test("USE-7: `npm i -g` of the packed file gives a `fairlead` that helps, and an agent", () => {
  expect(run("fairlead", "--help")).toContain("rollout");
  expect(run("fairlead", "version")).toContain(`fairlead ${FAIRLEAD_VERSION} (node ${process.version})`);
  expect(run("fairlead", "agent", "--version")).toBe(`${FAIRLEAD_VERSION}\n`);
  expect(spawnSync(join(folder, "prefix/bin/fairlead"), ["no-such-word"], { env: env() }).status).toBe(
    EXIT.usage,
  );
});

test("USE-7: the packed server runs on engines of its own and serves the console", async () => {
  const ports = await Promise.all(
    ["--listen", "--agent-listen", "--enroll-listen"].map(async (flag) => [
      flag,
      `127.0.0.1:${await freePort()}`,
    ]),
  );
  const flags = ["server", "--embedded", "--ephemeral", "--data-dir", join(folder, "data"), ...ports.flat()];
  const { child, identity } = await spawnChild(join(folder, "prefix/bin/fairlead"), flags, {
    env: env(),
    stdio: ["ignore", "pipe", "ignore"],
  });
  try {
    let said = "";
    for await (const chunk of child.stdout!) {
      said += String(chunk);
      if (said.includes("\n")) break;
    }
    const { url } = z.object({ event: z.literal("listening"), url: z.string() }).parse(JSON.parse(said));
    const page = await (await fetch(url)).text();
    expect(page).toContain("<!doctype html>");
    const script = /src="([^"]+\.js)"/.exec(page)![1]!;
    const loaded = await fetch(new URL(script, url));
    expect([loaded.status, loaded.headers.get("content-type")]).toEqual([
      200,
      expect.stringContaining("javascript"),
    ]);
  } finally {
    expect(await stopProcess(identity, { graceMs: 20_000 })).not.toBe("alive");
  }
}, 120_000);
