/** Jobs for a machine's program, what running one needs, and what the program says: the same under every runtime. */
import { randomUUID } from "node:crypto";
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import { type ConfigRef, UpgradeJob } from "../../../src/core/upgrade/job.ts";
import { systemClock } from "../../../src/host/clock.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { type JobOptions, PROFILE, type Said } from "./contract-machine.ts";
import { until } from "./until.ts";

const NODE_ID = randomUUID();

export interface JobsOf {
  readonly stateDir: string;
  readonly port: number;
  readonly baseEnv: Readonly<Record<string, string>>;
  readonly adapter: (fs?: FileSystemPort) => RuntimeAdapter;
  readonly disk?: FileSystemPort | undefined;
}

export function machineJobs({ stateDir, port, baseEnv, adapter, disk }: JobsOf) {
  /** Config files by their digest, as the control plane would hand them over. */
  const contents = new Map<string, string>();
  return {
    contents,
    jobOf(options: JobOptions, bytes: { readonly fingerprint: string; readonly url: string }): UpgradeJob {
      const configs = Object.entries(options.configs ?? {}).map(([path, content]) => {
        contents.set(digestOf(content), content);
        return { path, mode: "0640", sha256: digestOf(content) };
      });
      return UpgradeJob.parse({
        command_id: randomUUID(),
        rollout_id: options.rollout_id ?? randomUUID(),
        upgrade_id: options.upgrade_id ?? null,
        node_id: NODE_ID,
        chain_profile_id: PROFILE,
        direction: options.direction ?? "forward",
        attempt: options.attempt ?? 1,
        artifact: { name: "hello", version: options.version, ...bytes },
        run: { env: { ...baseEnv, ...options.env } },
        configs,
      });
    },
    deps: (more: Partial<UpgradeDeps> = {}): UpgradeDeps => ({
      adapter: adapter(more.fs),
      stateDir,
      clock: systemClock,
      log: silentLogger,
      onProgress: () => undefined,
      fetchConfig: async (ref: ConfigRef) => Buffer.from(contents.get(ref.sha256) ?? ""),
      ...(disk === undefined ? {} : { fs: disk }),
      ...more,
    }),
    /** What the program itself says over HTTP, once it listens. */
    async said(): Promise<Said> {
      const ask = async (): Promise<Said> =>
        (await (await fetch(`http://127.0.0.1:${port}/version`)).json()) as Said;
      return until("the program answers", async () => ask().catch(() => undefined));
    },
  };
}
