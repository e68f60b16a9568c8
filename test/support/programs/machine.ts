/** A small machine for one program: its folders, an artifact server, a runtime, and jobs for it. */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type FileProgram, ProgramConfig } from "../../../src/agent/programs/config.ts";
import { ensureRunning } from "../../../src/agent/upgrade/ensure-running.ts";
import { runUpgrade } from "../../../src/agent/upgrade/executor.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { artifactServer, type ArtifactServer } from "./artifact-server.ts";
import { type JobOptions, never, PROFILE } from "./contract-machine.ts";
import { freePort } from "./free-port.ts";
import { machineJobs } from "./machine-jobs.ts";
import { type Place, realRuntime } from "./runtimes.ts";

export { never, PROFILE } from "./contract-machine.ts";

/** Scripts find their interpreter by this, whatever Node the machine has. */
const PATH = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;

/** A program that ends at once, and quickly: no interpreter has to wake up first. */
export const CRASHING = "#!/bin/sh\nexit 7\n";

export interface FileJobOptions extends JobOptions {
  readonly bytes?: string;
}

export interface MachineParts {
  readonly program: FileProgram;
  readonly stateDir: string;
  readonly fs?: FileSystemPort | undefined;
}

/** What a runtime of the machine's own needs before a program can be there. */
export interface Surroundings {
  readonly place: Place;
  /** Added to the program's local config. */
  readonly config: Readonly<Record<string, unknown>>;
  setUp(program: FileProgram): Promise<void>;
  tearDown(): Promise<void>;
}

export interface MachineOptions {
  readonly parent?: string;
  readonly server?: ArtifactServer;
  readonly surroundings?: Surroundings;
  /** What its agents use unless they are given another. */
  readonly disk?: FileSystemPort;
}

const PLAIN: Surroundings = {
  place: {},
  config: {},
  setUp: async () => undefined,
  tearDown: async () => undefined,
};

export type Machine = Awaited<ReturnType<typeof machine>>;

/** For programs that are one file. */
export async function machine(
  runtime: (parts: MachineParts, place: Place) => RuntimeAdapter = realRuntime,
  { parent = tmpdir(), server: shared, surroundings = PLAIN, disk }: MachineOptions = {},
) {
  const root = await mkdtemp(join(parent, "fairlead-machine-"));
  const server = shared ?? (await artifactServer());
  const port = await freePort();
  const counterFile = join(root, "starts");
  const baseEnv = { PATH, PORT: String(port), COUNTER_FILE: counterFile };
  const stateDir = join(root, "state");
  const program = ProgramConfig.parse({
    ...surroundings.config,
    install_path: join(root, "bin", "hello"),
    data_dir: join(root, "data"),
    config_dir: join(root, "config"),
    health: { url: `http://127.0.0.1:${port}/healthz` },
    artifact_origins: [server.origin],
    env: {},
    stop_grace_ms: 5_000,
    run: { env: baseEnv },
  }) as FileProgram;
  for (const folder of ["bin", "data", "config", "state"]) await mkdir(join(root, folder));
  await surroundings.setUp(program);
  const adapter = (fs: FileSystemPort | undefined = disk): RuntimeAdapter =>
    runtime({ program, stateDir, fs }, surroundings.place);

  const { contents, jobOf, deps, said } = machineJobs({ stateDir, port, baseEnv, adapter, disk });

  function job(options: FileJobOptions): UpgradeJob {
    const hello = options.crashing === true ? CRASHING : helloProgram(options.version);
    const bytes = options.bytes ?? hello;
    const fingerprint = digestOf(bytes);
    server.put(`/${fingerprint}`, bytes);
    return jobOf(options, { fingerprint, url: `${server.origin}/${fingerprint}` });
  }

  return {
    root,
    stateDir,
    program,
    get place() {
      return surroundings.place;
    },
    server,
    contents,
    adapter,
    job,
    deps,
    async provision(version: string, configs: Readonly<Record<string, string>> = {}): Promise<void> {
      await writeFile(program.install_path, helloProgram(version));
      await chmod(program.install_path, 0o755);
      for (const [path, content] of Object.entries(configs)) {
        await writeFile(join(program.config_dir, path), content, { mode: 0o644 });
      }
      await ensureRunning({ profile: PROFILE, program, adapter: adapter(), stateDir, signal: never() });
      if (runtime === realRuntime) await said(); // it has begun to count its starts and to listen to signals
    },
    upgrade: async (wanted: UpgradeJob, more?: Partial<UpgradeDeps>) => runUpgrade(wanted, deps(more)),
    version: said,
    installed: async () => digestOf(await readFile(program.install_path)),
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
    /** Everything beside the program in its folder: downloads and temporary files. */
    leftOver: async () => (await readdir(dirname(program.install_path))).filter((name) => name !== "hello"),
    /** One line per start, written by the program itself. */
    async starts(): Promise<string[]> {
      return (await readFile(counterFile, "utf8").catch(() => "")).split("\n").filter((line) => line !== "");
    },
    /** The bytes at its address are others now. */
    loseArtifact: ({ artifact }: UpgradeJob) => server.put(`/${artifact.fingerprint}`, "gone"),
    async close(): Promise<void> {
      await adapter().stop(never());
      await surroundings.tearDown();
      if (shared === undefined) await server.close();
      // A late shim may still write its last word while its folder goes.
      await rm(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
}
