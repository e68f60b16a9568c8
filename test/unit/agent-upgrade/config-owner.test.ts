/** Whose a config file becomes: a 0600 file of root's could not be read by the program's user. */
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ProgramConfig, type SystemdProgram } from "../../../src/agent/programs/config.ts";
import { systemdAdapter } from "../../../src/agent/upgrade/adapters/systemd/index.ts";
import { ConfigRef, RunSpec } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { type FileSystemPort, nodeFileSystem } from "../../../src/host/file-system-port.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { never, PROFILE } from "../../support/programs/contract-machine.ts";

let folder: string;
beforeEach(async () => void (folder = await mkdtemp(join(tmpdir(), "fairlead-config-owner-"))));
afterEach(async () => rm(folder, { recursive: true, force: true }));

const OWNER = { uid: 4711, gid: 4712 };

/** The folder is somebody's, and only root could really give a file away. */
function ownedFileSystem(given: [number, number][]): FileSystemPort {
  return {
    ...nodeFileSystem,
    lstat: async (path) => ({ ...(await nodeFileSystem.lstat(path)), ...(path === folder ? OWNER : {}) }),
    open: async (path, flags, mode) => ({
      ...(await nodeFileSystem.open(path, flags, mode)),
      chown: async (uid, gid) => void given.push([uid, gid]),
    }),
  };
}

const bytes = Buffer.from("secret = 1\n");
const config = ConfigRef.parse({ path: "app.toml", mode: "0600", sha256: digestOf(bytes) });

function adapterOn(fs: FileSystemPort) {
  const program = ProgramConfig.parse({
    runtime: "systemd",
    unit: "hello.service",
    install_path: join(folder, "hello"),
    data_dir: folder,
    config_dir: folder,
    health: { url: "http://127.0.0.1:1/healthz" },
  }) as SystemdProgram;
  return systemdAdapter({ profile: PROFILE, program, stateDir: folder, clock: systemClock, fs });
}

test.each([
  ["the folder's owner's, when the unit's own user runs the program", null, [[OWNER.uid, OWNER.gid]]],
  ["the signed user's, when there is one: here the agent's own", userInfo().username, []],
])("ROLL-17: under systemd a config is %s", async (_, user, expected) => {
  const given: [number, number][] = [];
  const fs = ownedFileSystem(given);
  const adapter = adapterOn(fs);
  await adapter.writeConfig(config, bytes, RunSpec.parse({ user }), never());
  expect(given).toEqual(expected);
});

test("ROLL-17: a config file with the right bytes and another mode is not the signed one", async () => {
  const adapter = adapterOn(nodeFileSystem);
  await adapter.writeConfig(config, bytes, RunSpec.parse({ user: userInfo().username }), never());
  expect(await adapter.configsMatch([config], [])).toBe(true);
  await chmod(join(folder, "app.toml"), 0o644);
  expect(await adapter.configsMatch([config], [])).toBe(false);
});
