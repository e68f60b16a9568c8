/** A machine with a docker program in a pretended engine; its files are on whatever disk it is given. */
import { join } from "node:path";
import { DockerProgram } from "../../../src/agent/programs/config.ts";
import { dockerAdapter } from "../../../src/agent/upgrade/adapters/docker/index.ts";
import { runUpgrade } from "../../../src/agent/upgrade/executor.ts";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import { Digest } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { type JobOptions, never, PROFILE } from "../programs/contract-machine.ts";
import { machineJobs } from "../programs/machine-jobs.ts";
import { type EngineWorld, engineWorld, pretendedEngine } from "./pretended-engine.ts";

const REPOSITORY = "registry.test/hello";
const imageOf = (version: string): Digest => Digest.parse(digestOf(`image ${version}`));

export type PretendedDocker = ReturnType<typeof pretendedDocker>;

export interface PretendedDockerOptions {
  readonly disk?: FileSystemPort | undefined;
  /** Hears of each change in the engine. */
  readonly onChange?: () => void;
}

export function pretendedDocker(root: string, { disk, onChange }: PretendedDockerOptions = {}) {
  const world = engineWorld();
  /** Pulled by hand, and so never tidied away. */
  const byHand: string[] = [];
  const stateDir = join(root, "state");
  const program = DockerProgram.parse({
    runtime: "docker",
    container: "hello",
    image_repositories: [REPOSITORY],
    data_dir: join(root, "data"),
    config_dir: join(root, "config"),
    health: { url: "http://127.0.0.1:1/healthz" },
    run: { env: { PORT: "1" } },
  });
  const adapter = (fs = disk, on: EngineWorld = world): RuntimeAdapter =>
    dockerAdapter({
      profile: PROFILE,
      program,
      stateDir,
      clock: systemClock,
      settleMs: 0,
      engine: pretendedEngine(on, on === world ? onChange : undefined),
      ...(fs === undefined ? {} : { fs }),
    });
  const { jobOf, deps } = machineJobs({ stateDir, port: 1, baseEnv: { PORT: "1" }, adapter, disk });
  return {
    root,
    stateDir,
    program,
    world,
    adapter,
    imageOf,
    job(options: JobOptions): UpgradeJob {
      const fingerprint = imageOf(options.version);
      return jobOf(options, { fingerprint, url: `${REPOSITORY}@${fingerprint}` });
    },
    upgrade: async (job: UpgradeJob, more?: Partial<UpgradeDeps>) => runUpgrade(job, deps(more)),
    /** As an operator would by hand. */
    async provision(version: string): Promise<void> {
      const engine = pretendedEngine(world);
      const Image = `${REPOSITORY}@${imageOf(version)}`;
      world.images.push(Image);
      byHand.push(Image);
      const json = { Image, Env: ["PORT=1"], HostConfig: { RestartPolicy: { Name: "always" } } };
      await engine.change({ method: "POST", path: "/containers/create?name=hello", json });
      await engine.change({ method: "POST", path: `/containers/${world.containers[0]!.Id}/start` }, never());
    },
    installed: async (on?: EngineWorld) => (await adapter(undefined, on).measure()) ?? "nothing",
    /** Containers and images that neither run nor are what a reverse would go back to. */
    leftOver(on: EngineWorld = world): string[] {
      const current = on.containers.find(({ Name }) => Name === "/hello");
      const kept = on.containers.filter(
        (one) => one === current || one.Id === current?.Config.Labels?.["io.fairlead.replaced"],
      );
      const images = kept.map(({ Config }) => Config["Image"]);
      return [
        ...on.containers.filter((one) => !kept.includes(one)).map(({ Name }) => Name),
        ...on.images.filter((name) => !images.includes(name) && !byHand.includes(name)),
      ];
    },
  };
}
