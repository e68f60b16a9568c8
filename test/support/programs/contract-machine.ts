/** What the suites that run on every runtime ask of a machine. */
import type { RuntimeAdapter } from "../../../src/agent/upgrade/port.ts";
import type { UpgradeOutcome } from "../../../src/agent/upgrade/completed-store.ts";
import type { UpgradeDeps } from "../../../src/agent/upgrade/run.ts";
import { ProfileId } from "../../../src/core/ids.ts";
import type { UpgradeJob } from "../../../src/core/upgrade/job.ts";
import type { FileSystemPort } from "../../../src/host/file-system-port.ts";
import type { Place } from "./runtimes.ts";

export const PROFILE = ProfileId.parse("hello-mainnet");

export const never = (): AbortSignal => new AbortController().signal;

export interface JobOptions {
  readonly version: string;
  /** The program ends as soon as it is started. */
  readonly crashing?: boolean;
  readonly env?: Record<string, string>;
  readonly configs?: Readonly<Record<string, string>>;
  readonly rollout_id?: string;
  readonly upgrade_id?: string;
  readonly direction?: "forward" | "reverse";
  readonly attempt?: number;
}

export interface Said {
  readonly version: string;
  readonly instance_id: string;
  readonly pid: number;
}

export interface ContractMachine {
  readonly root: string;
  readonly stateDir: string;
  readonly program: { readonly data_dir: string };
  /** Where its runtime is, for a process of its own that works on the same machine. */
  readonly place: Place;
  /** Contents of config files, by digest. */
  readonly contents: ReadonlyMap<string, string>;
  adapter(fs?: FileSystemPort): RuntimeAdapter;
  job(options: JobOptions): UpgradeJob;
  deps(more?: Partial<UpgradeDeps>): UpgradeDeps;
  upgrade(job: UpgradeJob, more?: Partial<UpgradeDeps>): Promise<UpgradeOutcome>;
  /** Puts a version in place as an installer would have, with its configs, and starts it. */
  provision(version: string, configs?: Readonly<Record<string, string>>): Promise<void>;
  /** What the program itself says over HTTP, once it listens. */
  version(): Promise<Said>;
  /** The fingerprint of what is installed. */
  installed(): Promise<string>;
  configs(): Promise<Record<string, string>>;
  /** What an upgrade leaves beside the program when it does not tidy up. */
  leftOver(): Promise<string[]>;
  /** One line per start, written by the program itself, its instance id first. */
  starts(): Promise<string[]>;
  /** What this job would fetch is gone from where it would fetch it. */
  loseArtifact(job: UpgradeJob): void | Promise<void>;
  close(): Promise<void>;
}
