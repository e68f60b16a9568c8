/**
 * What a runtime must be able to do for an upgrade (ROLL-8). Actions speak this and nothing else: a new runtime is a
 * new file that fills the table, and no action, executor or API changes.
 *
 * 1. Everything is idempotent: asked again after a crash, it finishes or finds it done.
 * 2. Everything that changes the machine looks at `signal` before each change, so that an action that ran out of
 *    time cannot change it behind the compensation's back.
 */
import type { Digest } from "../../core/ids.ts";
import type { ArtifactRef, ConfigRef, RunSpec } from "../../core/upgrade/job.ts";
import type { Backup, BackupRef } from "./backup/manifest.ts";

/** Where one job keeps what it replaces: one folder per upgrade, direction and attempt. */
export interface BackupRequest {
  readonly folder: string;
  /** Whose backup it is: a folder may be left over from a rollout with the same `upgrade_id`. */
  readonly key: string;
  readonly configPaths: readonly string[];
  /** Folders of older backups that must stay. */
  readonly needed: readonly string[];
}

/** For runtimes that settle with the installation how a program will run. */
export interface InstallRequest {
  readonly key: string;
  readonly run: RunSpec;
}

export interface StartRequest {
  /** `{rollout}.{direction}.{attempt}`: instance ids are `{key}.{n}`. */
  readonly key: string;
  readonly fingerprint: Digest;
  readonly run: RunSpec;
}

export interface RunningProgram {
  /** Of the bytes that were verified and executed, not of what lies at the path now. */
  readonly fingerprint: Digest;
  readonly pid: number;
  readonly instance_id: string;
  readonly restarts: number;
  readonly started_at: string;
}

export interface Supervision {
  readonly running: RunningProgram | null;
  /** Since the program was last started on purpose. */
  readonly restarts: number;
  /** The newest of them, as times. */
  readonly restarted_at: readonly string[];
  readonly last_exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly at: string;
  } | null;
}

export interface RuntimeAdapter {
  /** Gets the bytes beside their place, from the backup `keptIn` if they are there, and keeps only the right ones. */
  acquire(artifact: ArtifactRef, keptIn: BackupRef | null, signal: AbortSignal): Promise<void>;
  isAcquired(artifact: ArtifactRef): Promise<boolean>;
  verify(artifact: ArtifactRef, signal: AbortSignal): Promise<void>;
  removeDownload(artifact: ArtifactRef): Promise<void>;

  backup(request: BackupRequest, signal: AbortSignal): Promise<BackupRef>;
  /** Throws BACKUP_CORRUPT unless every byte is the one that was saved. */
  readBackup(ref: BackupRef): Promise<Backup>;

  /** What is installed: measured now, never remembered, for someone may have changed it. Null when nothing is. */
  measure(): Promise<Digest | null>;
  /** Differs whenever `measure` might: cheap enough for every heartbeat. */
  installedStamp(): Promise<string>;
  /** With a request: installed for it. Without: its bytes are in place. */
  isInstalled(artifact: ArtifactRef, request?: InstallRequest): Promise<boolean>;
  install(artifact: ArtifactRef, signal: AbortSignal, request: InstallRequest): Promise<void>;
  restore(ref: BackupRef, signal: AbortSignal): Promise<void>;

  writeConfig(config: ConfigRef, bytes: Uint8Array, run: RunSpec, signal: AbortSignal): Promise<void>;
  removeConfig(path: string, signal: AbortSignal): Promise<void>;
  configsMatch(configs: readonly ConfigRef[], absent: readonly string[]): Promise<boolean>;
  readBackedUpConfig(ref: BackupRef, config: ConfigRef): Promise<Uint8Array | null>;
  restoreConfigs(ref: BackupRef, signal: AbortSignal): Promise<void>;

  reload(signal: AbortSignal): Promise<void>;
  start(request: StartRequest, signal: AbortSignal): Promise<void>;
  stop(signal: AbortSignal): Promise<void>;
  /** Whether anything of the program lives, also between two restarts: false means that it stays off. */
  isRunning(): Promise<boolean>;
  /** Whether someone would restart it. */
  isSupervised(): Promise<boolean>;
  /**
   * Whether the program should run, and nothing that lives would start it. A runtime whose own supervisor outlives the
   * agent has none of it: there, a program that is off was switched off by somebody.
   */
  isLost?(): Promise<boolean>;
  running(): Promise<RunningProgram | null>;
  supervision(): Promise<Supervision>;
}
