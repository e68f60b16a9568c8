/** Saving and reading again what an upgrade replaces: the program's file and the configs that the job touches. */
import { join } from "node:path";
import { FairleadError } from "../../../../core/errors.ts";
import { LIMITS } from "../../../../core/limits.ts";
import type { ConfigRef, RunSpec } from "../../../../core/upgrade/job.ts";
import type { Clock } from "../../../../host/clock.ts";
import { removeDurable, temporaryOf } from "../../../../host/durable-write.ts";
import { isMissing } from "../../../../host/file-errors.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { readBoundedIfThere } from "../../../../host/files.ts";
import { type Logger, silentLogger } from "../../../../host/log.ts";
import { resolveInside } from "../../../../host/safe-path.ts";
import { digestOf } from "../../../../trust/digest.ts";
import type { FileProgram } from "../../../programs/config.ts";
import { backupFolder, corrupt } from "../../backup/folder.ts";
import type { Backup, BackupRef } from "../../backup/manifest.ts";
import type { BackupRequest } from "../../port.ts";
import { copyDurable } from "./copy.ts";
import { hashFileIfThere } from "./hash.ts";

type Saved = NonNullable<Backup["artifact"]>;

export interface StateBackup {
  save(request: BackupRequest, how: Pick<Backup, "ran" | "run">, signal: AbortSignal): Promise<BackupRef>;
  /** Checks every byte. */
  read(ref: BackupRef): Promise<Backup>;
  /** Where a saved file lies; whoever copies it checks its digest on the way. */
  artifactPath(ref: BackupRef): Promise<string>;
  configPath(ref: BackupRef, path: string): Promise<string>;
  /** Puts back, or removes, what a runtime keeps beside the program. */
  restoreBeside(ref: BackupRef, name: string, signal: AbortSignal): Promise<void>;
  /** Null when its bytes are not there any more. */
  readConfig(ref: BackupRef, config: ConfigRef): Promise<Uint8Array | null>;
}

export interface StateBackupDeps {
  readonly program: Pick<FileProgram, "install_path" | "data_dir" | "config_dir">;
  readonly fs: FileSystemPort;
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn"> | undefined;
  /** Files of the runtime's own that are saved and restored with the program: name to place. */
  readonly beside?: Readonly<Record<string, () => Promise<string>>>;
}

const ARTIFACT = "artifact";
const besideName = (name: string): string => `beside-${name}`;
const configName = (index: number): string => `config-${index}`;

export function stateBackup({
  program,
  fs,
  clock,
  log = silentLogger,
  beside = {},
}: StateBackupDeps): StateBackup {
  const folders = backupFolder({ dataDir: program.data_dir, fs, log });

  async function saveFile(from: string, to: string, signal: AbortSignal): Promise<Saved | null> {
    try {
      // Private whatever the original was: a config may hold what the program's user alone may read.
      const { sha256, stat } = await copyDurable(from, to, {
        fs,
        signal,
        mode: 0o600,
        otherwise: "ACTION_FAILED",
      });
      return { sha256, mode: stat.mode, uid: stat.uid, gid: stat.gid };
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async function expectDigest(folder: string, path: string, { sha256 }: Saved): Promise<void> {
    const found = await hashFileIfThere(path, fs);
    if (found !== sha256) throw corrupt(folder, `${path} is ${found ?? "missing"}, not ${sha256}`);
  }

  return {
    async save({ folder, key, configPaths, needed }, how: { ran: boolean; run: RunSpec }, signal) {
      await folders.prune([folder, ...needed]);
      const path = await folders.begin(folder);
      const created_at = new Date(clock.now()).toISOString();
      const artifact = await saveFile(program.install_path, join(path, ARTIFACT), signal);
      const configs: Backup["configs"] = [];
      const absent: string[] = [];
      for (const config of new Set(configPaths)) {
        const from = await resolveInside(program.config_dir, config, fs);
        const saved = await saveFile(from, join(path, configName(configs.length)), signal);
        if (saved === null) absent.push(config);
        else configs.push({ path: config, ...saved });
      }
      const others: Backup["beside"] = {};
      for (const [name, place] of Object.entries(beside)) {
        others[name] = await saveFile(await place(), join(path, besideName(name)), signal);
      }
      return folders.finish(folder, { key, created_at, artifact, configs, absent, beside: others, ...how });
    },
    async read(ref) {
      const { path, backup } = await folders.read(ref);
      if (backup.artifact !== null) await expectDigest(ref.folder, join(path, ARTIFACT), backup.artifact);
      for (const [index, config] of backup.configs.entries()) {
        await expectDigest(ref.folder, join(path, configName(index)), config);
      }
      for (const [name, other] of Object.entries(backup.beside)) {
        if (other !== null) await expectDigest(ref.folder, join(path, besideName(name)), other);
      }
      return backup;
    },
    artifactPath: async (ref) => join((await folders.read(ref)).path, ARTIFACT),
    async configPath(ref, config) {
      const { path, backup } = await folders.read(ref);
      return join(path, configName(backup.configs.findIndex((saved) => saved.path === config)));
    },
    async restoreBeside(ref, name, signal) {
      const { path, backup } = await folders.read(ref);
      const other = backup.beside[name];
      if (other === undefined) return; // saved by an agent that knew nothing of it
      const place = await beside[name]!();
      signal.throwIfAborted();
      if (other === null) {
        await removeDurable(temporaryOf(place), fs);
        return removeDurable(place, fs);
      }
      const { sha256: expected, mode, uid, gid } = other;
      const how = { expected, otherwise: "BACKUP_CORRUPT", mode, owner: { uid, gid }, fs, signal } as const;
      await copyDurable(join(path, besideName(name)), place, how);
    },
    async readConfig(ref, config) {
      const read = await ifNotCorrupt(folders.read(ref));
      const index = read?.backup.configs.findIndex((saved) => saved.sha256 === config.sha256) ?? -1;
      if (read === null || index === -1) return null;
      const bytes = await readBoundedIfThere(
        join(read.path, configName(index)),
        LIMITS.configFileBytesMax,
        fs,
      );
      return bytes !== undefined && digestOf(bytes) === config.sha256 ? bytes : null;
    },
  };
}

async function ifNotCorrupt<T>(reading: Promise<T>): Promise<T | null> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof FairleadError && error.code === "BACKUP_CORRUPT") return null;
    throw error;
  }
}
