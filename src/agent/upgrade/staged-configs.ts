/**
 * Config contents of one job, fetched by digest before anything stops and kept until it ends.
 *
 * 1. What does not have the signed digest is never kept, and never handed out.
 */
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import { removeDurable, writeDurable } from "../../host/durable-write.ts";
import { isMissing } from "../../host/file-errors.ts";
import { type FileSystemPort, nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory, readBoundedIfThere } from "../../host/files.ts";
import { digestOf } from "../../trust/digest.ts";
import type { BackupRef } from "./backup/manifest.ts";
import type { RuntimeAdapter } from "./port.ts";

export interface StagedConfigs {
  areStaged(configs: readonly ConfigRef[]): Promise<boolean>;
  stage(configs: readonly ConfigRef[], keptIn: BackupRef | null, signal: AbortSignal): Promise<void>;
  read(config: ConfigRef, signal: AbortSignal): Promise<Uint8Array>;
  clear(): Promise<void>;
}

export interface StagingDeps {
  readonly folder: string;
  readonly adapter: Pick<RuntimeAdapter, "readBackedUpConfig">;
  readonly fetchConfig: (ref: ConfigRef) => Promise<Uint8Array>;
  readonly fs?: FileSystemPort | undefined;
}

export function stagedConfigs({
  folder,
  adapter,
  fetchConfig,
  fs = nodeFileSystem,
}: StagingDeps): StagedConfigs {
  const pathOf = (config: ConfigRef): string => join(folder, config.sha256.slice("sha256:".length));

  async function staged(config: ConfigRef): Promise<Uint8Array | undefined> {
    const bytes = await readBoundedIfThere(pathOf(config), LIMITS.configFileBytesMax, fs);
    return bytes !== undefined && digestOf(bytes) === config.sha256 ? bytes : undefined;
  }

  async function fetched(
    config: ConfigRef,
    keptIn: BackupRef | null,
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const kept = keptIn === null ? null : await adapter.readBackedUpConfig(keptIn, config);
    const bytes = kept ?? (await fetchConfig(config));
    signal.throwIfAborted();
    if (bytes.length > LIMITS.configFileBytesMax || digestOf(bytes) !== config.sha256) {
      throw new FairleadError("CONFIG_DIGEST_MISMATCH", `${config.path} is not the signed ${config.sha256}`); // (1)
    }
    return bytes;
  }

  return {
    async areStaged(configs) {
      for (const config of configs) if ((await staged(config)) === undefined) return false;
      return true;
    },
    async stage(configs, keptIn, signal) {
      await ensureDirectory(folder, 0o700, fs);
      for (const config of configs) {
        if ((await staged(config)) === undefined) {
          await writeDurable(pathOf(config), await fetched(config, keptIn, signal), { fs });
        }
      }
    },
    read: async (config, signal) => (await staged(config)) ?? fetched(config, null, signal),
    async clear() {
      try {
        for (const name of await fs.readdir(folder)) await removeDurable(join(folder, name), fs);
        await fs.rmdir(folder);
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    },
  };
}
