/** An agent's executor in a process of its own, killed when the engine was asked for something. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { minimalEnv, spawnChild } from "../../../src/host/process.ts";
import { UPGRADE_CHILD } from "../programs/built.ts";
import type { ChildSpec } from "../programs/upgrade-child.ts";
import type { DockerMachine } from "./machine.ts";
import { type StopPoint, stoppingEngine } from "./stopping-engine.ts";

export async function killAgent(m: DockerMachine, job: UpgradeJob, point: StopPoint): Promise<void> {
  const engine_socket = join(m.root, "engine.sock");
  const engine = await stoppingEngine(engine_socket, m.program.engine_socket, point);
  const spec: ChildSpec = {
    program: { ...m.program, engine_socket },
    place: m.place,
    stateDir: m.stateDir,
    job,
    contents: [...m.contents],
    stopAt: [],
  };
  const path = join(m.root, "child.json");
  await writeFile(path, JSON.stringify(spec));
  const { child } = await spawnChild(process.execPath, [UPGRADE_CHILD, path], {
    env: minimalEnv(),
    stdio: ["ignore", "ignore", "inherit"],
  });
  const exited = new Promise((done) => child.once("exit", done));
  const where = await Promise.race([engine.reached.then(() => "there"), exited.then(() => "its end")]);
  child.kill("SIGKILL");
  await exited;
  await engine.close();
  if (where !== "there") throw new Error(`the agent came to ${where}`);
}
