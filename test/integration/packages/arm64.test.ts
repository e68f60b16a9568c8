// The agent for arm64 on this machine's processor, by Debian's qemu-user-static and the cross C libraries.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FAIRLEAD_VERSION } from "../../../src/core/version.ts";
import { commandEnv } from "../../../src/demo/command.ts";
import { addAgent } from "../../support/lab/agent-of-node.ts";
import { eventually } from "../../support/lab/eventually.ts";
import { type Lab, startLab } from "../../support/lab/lab.ts";
import { builtPackages, unpackExecutable } from "../../support/packages/built.ts";

const QEMU = "/usr/bin/qemu-aarch64-static";
const LIBRARIES = ["-L", "/usr/aarch64-linux-gnu"];

let packages: string;
let lab: Lab;
beforeAll(async () => {
  [packages, lab] = await Promise.all([builtPackages(), startLab()]);
}, 600_000);
afterAll(() => lab?.stop());

test("USE-7: the agent for arm64 says its version, enrolls at a real server and sends a heartbeat", async () => {
  const file = unpackExecutable(packages, "fairlead-agent", "arm64", lab.folder);
  const asked = spawnSync(QEMU, [...LIBRARIES, file, "--version"], { encoding: "utf8" });
  expect([asked.stdout, asked.stderr]).toEqual([`${FAIRLEAD_VERSION}\n`, ""]);

  // Its unit is not there: what the program does is no question here, and no shim for arm64 could be started.
  const folder = join(lab.folder, "program");
  const program = {
    runtime: "systemd",
    unit: "fairlead-none.service",
    install_path: join(folder, "bin"),
    data_dir: join(folder, "data"),
    config_dir: join(folder, "config"),
    version: "1.0.0",
    health: { url: "http://127.0.0.1:1/" },
  };
  const node = await addAgent(lab, { name: "arm", profile: "hello", program });
  await lab.processes.start("agent-arm", QEMU, [...LIBRARIES, file, "--config", node.configPath], {
    env: commandEnv(lab.home),
  });
  const seen = await eventually("the node sends a heartbeat", async () => {
    const found = await lab.operator.node("arm");
    return found.last_heartbeat_at !== null && found;
  });
  expect(seen).toMatchObject({ name: "arm", state: "active" });
}, 300_000);
