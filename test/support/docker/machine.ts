/** The small machine of test/support/programs/machine.ts with its program in a container of a real engine. */
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DockerProgram } from "../../../src/agent/programs/config.ts";
import { dockerAdapter } from "../../../src/agent/upgrade/adapters/docker/index.ts";
import type { Engine } from "../../../src/agent/upgrade/adapters/docker/engine.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { runUpgrade } from "../../../src/agent/upgrade/executor.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { freePort } from "../programs/free-port.ts";
import { machineJobs } from "../programs/machine-jobs.ts";
import { type ContractMachine, type JobOptions, never, PROFILE } from "../programs/contract-machine.ts";
import { containersOf, removeContainersOf } from "./containers.ts";
import { call, REPOSITORY } from "./images.ts";
import { FIRST, type HelloImages } from "./hello-images.ts";
import type { DockerLab } from "./lab.ts";

export interface DockerParts {
  readonly program: DockerProgram;
  readonly stateDir: string;
  readonly fs?: FileSystemPort | undefined;
  readonly engine?: Engine | undefined;
  readonly engineWaitMs?: number | undefined;
}

function dockerRuntime({
  program,
  stateDir,
  fs,
  engine,
  engineWaitMs = 20_000,
}: DockerParts): RuntimeAdapter {
  return dockerAdapter({
    profile: PROFILE,
    program,
    stateDir,
    clock: systemClock,
    settleMs: 200,
    engineWaitMs,
    ...(fs === undefined ? {} : { fs }),
    ...(engine === undefined ? {} : { engine }),
  });
}

export interface DockerMachineOptions {
  /** What the operator gave the first container besides what the program needs. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly host?: Readonly<Record<string, unknown>>;
  /** Added to the program's local config. */
  readonly local?: Readonly<Record<string, unknown>>;
  /** False when the program listens in a network that the test cannot reach. */
  readonly answers?: boolean;
}

export type DockerMachine = Awaited<ReturnType<typeof dockerMachine>>;

export async function dockerMachine(
  lab: DockerLab,
  images: HelloImages,
  { config = {}, host = {}, local = {}, answers = true }: DockerMachineOptions = {},
) {
  const root = await mkdtemp(join(tmpdir(), "fairlead-machine-"));
  const port = await freePort();
  const gateway = await lab.gateway(port);
  const stateDir = join(root, "state");
  const baseEnv = { PORT: String(port), COUNTER_FILE: "/counter/starts" };
  const program = DockerProgram.parse({
    runtime: "docker",
    container: `hello-${port}`,
    engine_socket: lab.socketPath,
    image_repositories: [REPOSITORY],
    data_dir: join(root, "data"),
    config_dir: join(root, "config"),
    health: { url: `http://127.0.0.1:${port}/healthz` },
    stop_grace_ms: 5_000,
    run: { env: baseEnv },
    ...local,
  });
  for (const folder of ["data", "config", "counter", "state"]) await mkdir(join(root, folder));
  const adapter = (fs?: FileSystemPort, more: Partial<DockerParts> = {}): RuntimeAdapter =>
    dockerRuntime({ program, stateDir, fs, ...more });

  const { contents, jobOf, deps, said } = machineJobs({ stateDir, port, baseEnv, adapter });

  function job(options: JobOptions): UpgradeJob {
    const fingerprint = images.digestOf(options.crashing === true ? "crashing" : options.version);
    return jobOf(options, { fingerprint, url: `${REPOSITORY}@${fingerprint}` });
  }

  return {
    root,
    stateDir,
    program,
    place: {},
    contents,
    adapter,
    job,
    deps,
    async provision(
      version: string,
      configs: Readonly<Record<string, string>> = {},
      image: string = images.digestOf(version),
    ): Promise<void> {
      for (const [path, content] of Object.entries(configs)) {
        await writeFile(join(program.config_dir, path), content, { mode: 0o644 });
      }
      if (image !== images.digestOf(FIRST))
        await call(lab.api, "POST", `/images/create?fromImage=${REPOSITORY}&tag=${image}`);
      const binds = [`${program.config_dir}:/config:ro`, `${join(root, "counter")}:/counter`];
      await call(lab.api, "POST", `/containers/create?name=${program.container}`, {
        json: {
          Image: `${REPOSITORY}@${image}`,
          ...config,
          Env: [
            ...Object.entries(baseEnv).map(([name, value]) => `${name}=${value}`),
            ...((config["Env"] as string[] | undefined) ?? []),
          ],
          HostConfig: { NetworkMode: "host", RestartPolicy: { Name: "always" }, Binds: binds, ...host },
        },
      });
      await ensureRunning({ profile: PROFILE, program, adapter: adapter(), stateDir, signal: never() });
      if (answers) await said();
    },
    upgrade: async (wanted: UpgradeJob, more?: Partial<UpgradeDeps>) => runUpgrade(wanted, deps(more)),
    version: said,
    installed: async () => (await adapter().measure()) ?? "nothing",
    async configs(): Promise<Record<string, string>> {
      const names = (await readdir(program.config_dir, { recursive: true })).toSorted();
      const files = await Promise.all(
        names.map(async (name) => {
          const path = join(program.config_dir, name);
          return (await stat(path)).isFile() ? [[name, await readFile(path, "utf8")] as const] : [];
        }),
      );
      return Object.fromEntries(files.flat());
    },
    /** Containers and images of this program that neither run nor are what a reverse would go back to. */
    async leftOver(): Promise<string[]> {
      const { unneeded } = await containersOf(lab.api, program.container);
      return [...unneeded, ...(await images.unused())];
    },
    async starts(): Promise<string[]> {
      const text = await readFile(join(root, "counter", "starts"), "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "");
    },
    /** No image can be pulled any more, until the machine is closed. */
    loseArtifact: async (): Promise<void> => lab.stopRegistry(),
    async close(): Promise<void> {
      await lab.startRegistry();
      await removeContainersOf(lab.api, program.container);
      await images.forgetUnused();
      await gateway.close();
      await rm(root, { recursive: true, force: true });
    },
  } satisfies ContractMachine;
}
