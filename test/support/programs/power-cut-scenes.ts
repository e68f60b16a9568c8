/** Machines whose power is cut: a program on a disk in memory, and what of the machine survives beside the disk. */
import { dirname, join } from "node:path";
import type { ProgramConfig } from "../../../src/agent/programs/config.ts";
import type { UpgradeOutcome } from "../../../src/agent/upgrade/completed-store.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { Digest } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { helloProgram } from "../../../src/demo/hello-program.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { boot, type EngineWorld } from "../docker/pretended-engine.ts";
import { pretendedDocker } from "../docker/pretended-machine.ts";
import { type Disk, type PowerCutFileSystem, powerCutFileSystem } from "../host/power-cut-file-system.ts";
import { type FakeProcesses, fakeProcesses, fakeRuntime } from "./fake-runtime.ts";
import { machine } from "./machine.ts";

export const BEFORE = { "app.toml": "level = 1\n" };
export const AFTER = { "app.toml": "level = 2\n", "peers/list.toml": "new\n" };

/** An agent on a machine that runs, or that came up again. */
export interface Agent {
  readonly fs: PowerCutFileSystem;
  readonly adapter: RuntimeAdapter;
  /** What is on the disk by now, as far as it was synced. */
  disk(): Disk;
  upgrade(adapter: RuntimeAdapter): Promise<UpgradeOutcome>;
}

/** What a cut leaves: the disk, and what is not ours to sync. */
export interface Cut {
  readonly disk: Disk;
  readonly engine?: EngineWorld;
}

export interface PowerCutScene {
  readonly program: ProgramConfig;
  readonly stateDir: string;
  readonly job: UpgradeJob;
  /** Fingerprint of what runs at first. */
  readonly old: string;
  /** On the machine before anything was cut. */
  readonly first: Agent;
  /** Every moment of what `first` did, in order, as each kind of disk would have kept it. */
  cuts(): Cut[];
  /** The power is back. */
  after(cut: Cut): Agent;
  /** Files beside the program's own, or containers and images. */
  leftOver(agent: Agent): string[];
  close(): Promise<void>;
}

const modeOf = (path: string): number =>
  path.includes("/config") ? 0o640 : path.includes("/bin") ? 0o755 : 0o600;

const diskOf = (files: Readonly<Record<string, string>>): Disk =>
  new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));

const configsIn = (folder: string): Record<string, string> =>
  Object.fromEntries(Object.entries(BEFORE).map(([name, text]) => [join(folder, name), text]));

/** Temporary files have names by chance, and the same disk twice tells nothing more. */
function different(cuts: readonly Cut[]): Cut[] {
  const digests = new Map<Buffer, string>();
  const told = (bytes: Buffer): string =>
    digests.get(bytes) ?? digests.set(bytes, digestOf(bytes)).get(bytes)!;
  const keyOf = ({ disk, engine }: Cut): string =>
    JSON.stringify([[...disk].map(([path, bytes]) => `${path} ${told(bytes)}`).toSorted(), engine]);
  return [...new Map(cuts.map((cut) => [keyOf(cut), cut])).values()];
}

/** Processes end with the power, and only an agent starts them again. */
export async function processScene(): Promise<PowerCutScene> {
  const m = await machine(({ program, fs }) => fakeRuntime(fakeProcesses(), program, fs));
  const { program, stateDir } = m;
  const job = m.job({ version: "2.0.0", configs: AFTER });
  const bytes = helloProgram("1.0.0");
  const agentOn = (disk: Disk, world = fakeProcesses()): Agent => {
    const fs = powerCutFileSystem(disk, modeOf);
    return {
      fs,
      adapter: fakeRuntime(world, program, fs),
      disk: () => fs.moments.at(-1)?.hasty ?? disk,
      upgrade: async (adapter) => m.upgrade(job, { fs, adapter }),
    };
  };
  const first = agentOn(
    diskOf({ [program.install_path]: bytes, ...configsIn(program.config_dir) }),
    RUNNING(digestOf(bytes)),
  );
  return {
    program,
    stateDir,
    job,
    old: digestOf(bytes),
    first,
    cuts: () =>
      different(first.fs.moments.flatMap(({ strict, hasty }) => [{ disk: strict }, { disk: hasty }])),
    after: ({ disk }) => agentOn(disk),
    leftOver(agent) {
      const folder = dirname(program.install_path);
      const files = [...agent.disk().keys()].filter((path) => dirname(path) === folder);
      return files.filter((path) => path !== program.install_path);
    },
    close: m.close,
  };
}

const RUNNING = (fingerprint: Digest): FakeProcesses => ({
  ...fakeProcesses(),
  running: {
    fingerprint,
    pid: 1,
    instance_id: "found.1",
    restarts: 0,
    started_at: new Date(0).toISOString(),
  },
});

/** The engine keeps its own books, and starts by itself what may restart. */
export async function dockerScene(): Promise<PowerCutScene> {
  const seen: { readonly at: number; readonly engine: EngineWorld }[] = [];
  const note = (): void => void seen.push({ at: first.fs.moments.length, engine: structuredClone(m.world) });
  const m = pretendedDocker("/machine", { onChange: note });
  const { program, stateDir } = m;
  const job = m.job({ version: "2.0.0", configs: AFTER });
  const agentOn = (disk: Disk, engine: EngineWorld) => {
    const fs = powerCutFileSystem(disk, modeOf);
    return {
      fs,
      engine,
      adapter: m.adapter(fs, engine),
      disk: () => fs.moments.at(-1)?.hasty ?? disk,
      upgrade: async (adapter: RuntimeAdapter) => m.upgrade(job, { fs, adapter }),
    };
  };
  const first = agentOn(diskOf(configsIn(program.config_dir)), m.world);
  await m.provision("1.0.0");
  note();
  /** The engine after the file operation with this index, and after each change that came before the next one. */
  const enginesAt = (index: number): EngineWorld[] => [
    seen.findLast(({ at }) => at <= index)!.engine,
    ...seen.filter(({ at }) => at === index + 1).map(({ engine }) => engine),
  ];
  return {
    program,
    stateDir,
    job,
    old: m.imageOf("1.0.0"),
    first,
    cuts: () =>
      different(
        first.fs.moments.flatMap(({ strict, hasty }, index) =>
          enginesAt(index).flatMap((engine) => [strict, hasty].map((disk) => ({ disk, engine }))),
        ),
      ),
    after(cut) {
      const engine = structuredClone(cut.engine!);
      boot(engine);
      return agentOn(cut.disk, engine);
    },
    leftOver: (agent) => m.leftOver((agent as ReturnType<typeof agentOn>).engine),
    close: async () => undefined,
  };
}
