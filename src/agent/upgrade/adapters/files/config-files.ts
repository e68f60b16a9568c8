/**
 * The program's config files (ROLL-17's modes included).
 *
 * 1. A path stays under `config_dir` and passes through no link.
 * 2. A file changes as a whole or not at all, and belongs to the program's user when it has one: a 0600 file of
 *    another user could not be read by it.
 */
import { dirname } from "node:path";
import type { ConfigRef, RunSpec } from "../../../../core/upgrade/job.ts";
import { removeDurable, temporaryOf, writeDurable } from "../../../../host/durable-write.ts";
import { isMissing } from "../../../../host/file-errors.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { ensureDirectory } from "../../../../host/files.ts";
import { resolveInside } from "../../../../host/safe-path.ts";
import type { ProgramConfig } from "../../../programs/config.ts";
import { lookUpUser } from "../../../programs/user.ts";
import type { RuntimeAdapter } from "../../port.ts";
import { copyDurable } from "./copy.ts";
import { hashFileIfThere } from "./hash.ts";
import type { StateBackup } from "./state-backup.ts";

type ConfigMethods = Pick<
  RuntimeAdapter,
  "writeConfig" | "removeConfig" | "configsMatch" | "readBackedUpConfig" | "restoreConfigs"
>;

export interface ConfigFilesDeps {
  readonly program: Pick<ProgramConfig, "config_dir">;
  readonly fs: FileSystemPort;
  readonly saved: StateBackup;
  /**
   * Whose a file becomes: the run's user; or, where that one lives in a container, the folder's owner; or, where a unit
   * has a user of its own, the folder's owner as long as no other is signed.
   */
  readonly owner?: "user" | "folder" | "unit";
}

export function configFiles({ program, fs, saved, owner = "user" }: ConfigFilesDeps): ConfigMethods {
  const resolve = async (path: string): Promise<string> => resolveInside(program.config_dir, path, fs); // (1)

  const ownerOf = async ({ user }: RunSpec): Promise<{ uid: number; gid: number } | null> =>
    owner === "folder" || (owner === "unit" && user === null)
      ? fs.lstat(program.config_dir)
      : lookUpUser(user);

  async function remove(path: string): Promise<void> {
    const target = await resolve(path);
    await removeDurable(temporaryOf(target), fs);
    await removeDurable(target, fs);
  }

  return {
    async writeConfig(config: ConfigRef, bytes: Uint8Array, run: RunSpec, signal) {
      const path = await resolve(config.path);
      const user = await ownerOf(run);
      signal.throwIfAborted();
      await ensureDirectory(dirname(path), 0o755, fs);
      await writeDurable(path, bytes, {
        fs,
        soleWriter: true,
        mode: modeOf(config),
        ...(user === null ? {} : { owner: { uid: user.uid, gid: user.gid } }), // (2)
      });
    },
    async removeConfig(path, signal) {
      signal.throwIfAborted();
      await remove(path);
    },
    async configsMatch(configs, absent) {
      for (const config of configs)
        if (!(await matches(await resolve(config.path), config, fs))) return false;
      for (const path of absent) if ((await statIfThere(await resolve(path), fs)) !== null) return false;
      return true;
    },
    readBackedUpConfig: saved.readConfig,
    async restoreConfigs(ref, signal) {
      const { configs, absent } = await saved.read(ref);
      for (const { path, sha256, mode, uid, gid } of configs) {
        signal.throwIfAborted();
        const options = {
          expected: sha256,
          otherwise: "BACKUP_CORRUPT",
          mode,
          owner: { uid, gid },
          fs,
          signal,
        } as const;
        await copyDurable(await saved.configPath(ref, path), await resolve(path), options);
      }
      for (const path of absent) {
        signal.throwIfAborted();
        await remove(path);
      }
    },
  };
}

const modeOf = (config: ConfigRef): number => Number.parseInt(config.mode, 8);

async function matches(path: string, config: ConfigRef, fs: FileSystemPort): Promise<boolean> {
  const stat = await statIfThere(path, fs);
  return stat?.mode === modeOf(config) && (await hashFileIfThere(path, fs)) === config.sha256;
}

async function statIfThere(path: string, fs: FileSystemPort) {
  try {
    return await fs.lstat(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
