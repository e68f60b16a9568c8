/**
 * A program that is one file: fetched beside its place, verified, renamed into it.
 *
 * 1. What is installed is what was hashed: the descriptor is held over the rename, so its inode cannot be given away,
 *    and what then lies at the install path must be that inode. A file swapped since `verify` is found before that.
 * 2. The install path changes by rename only, and is never a link.
 */
import { basename, dirname, join } from "node:path";
import { FairleadError } from "../../../../core/errors.ts";
import type { ArtifactRef } from "../../../../core/upgrade/job.ts";
import {
  beginDurableWrite,
  removeDurable,
  syncDirectory,
  temporaryOf,
} from "../../../../host/durable-write.ts";
import { isMissing, withFileErrors } from "../../../../host/file-errors.ts";
import type { FileSystemPort, OpenFile } from "../../../../host/file-system-port.ts";
import type { FileProgram } from "../../../programs/config.ts";
import type { BackupRef } from "../../backup/manifest.ts";
import { fetchArtifact } from "../../fetch-artifact.ts";
import type { RuntimeAdapter } from "../../port.ts";
import { copyDurable } from "./copy.ts";
import { hashFileIfThere, hashOpenFile, openRegular } from "./hash.ts";
import { stampOf } from "./stamp.ts";
import type { StateBackup } from "./state-backup.ts";
import { hashingSink } from "./sink.ts";

type ArtifactMethods = Pick<
  RuntimeAdapter,
  | "acquire"
  | "isAcquired"
  | "verify"
  | "removeDownload"
  | "measure"
  | "installedStamp"
  | "isInstalled"
  | "install"
  | "restore"
>;

export interface ArtifactFilesDeps {
  readonly program: FileProgram;
  readonly fs: FileSystemPort;
  readonly saved: StateBackup;
}

export function artifactFiles({ program, fs, saved }: ArtifactFilesDeps): ArtifactMethods {
  const { install_path, artifact_origins } = program;
  const downloadOf = ({ name }: ArtifactRef): string => join(dirname(install_path), `.download-${name}`);

  async function copyKept(artifact: ArtifactRef, keptIn: BackupRef, signal: AbortSignal): Promise<boolean> {
    try {
      const from = await saved.artifactPath(keptIn);
      const expected = artifact.fingerprint;
      await copyDurable(from, downloadOf(artifact), {
        expected,
        otherwise: "BACKUP_CORRUPT",
        mode: 0o755,
        fs,
        signal,
      });
      return true;
    } catch (error) {
      if (isMissing(error) || (error instanceof FairleadError && error.code === "BACKUP_CORRUPT"))
        return false;
      throw error;
    }
  }

  async function download(artifact: ArtifactRef, signal: AbortSignal): Promise<void> {
    const writing = await beginDurableWrite(downloadOf(artifact), { fs, mode: 0o755, soleWriter: true });
    try {
      const sink = hashingSink(async (chunk) => writing.write(chunk));
      await fetchArtifact(artifact.url, sink.write, { origins: artifact_origins, signal });
      if (sink.digest() !== artifact.fingerprint) throw notTheBytes(artifact, "the address served others");
      signal.throwIfAborted();
      await writing.commit();
    } finally {
      await writing.abort();
    }
  }

  async function openVerified(artifact: ArtifactRef, signal: AbortSignal): Promise<OpenFile> {
    const file = await openRegular(downloadOf(artifact), fs);
    try {
      if ((await hashOpenFile(file, signal)) === artifact.fingerprint) return file;
      throw notTheBytes(artifact, "the download changed");
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  return {
    async acquire(artifact, keptIn, signal) {
      if (keptIn !== null && (await copyKept(artifact, keptIn, signal))) return;
      await download(artifact, signal);
    },
    async isAcquired(artifact) {
      try {
        return (await hashFileIfThere(downloadOf(artifact), fs)) === artifact.fingerprint;
      } catch (error) {
        if (error instanceof FairleadError && error.code === "PATH_REFUSED") return false; // a link: fetching replaces it
        throw error;
      }
    },
    async verify(artifact, signal) {
      // Nothing was fetched when only configs change: then the installed file is the one to verify.
      if ((await hashFileIfThere(install_path, fs, signal)) === artifact.fingerprint) return;
      await (await openVerified(artifact, signal)).close();
    },
    async removeDownload(artifact) {
      await removeDurable(temporaryOf(downloadOf(artifact)), fs);
      await removeDurable(downloadOf(artifact), fs);
    },
    measure: async () => hashFileIfThere(install_path, fs),
    installedStamp: async () => stampOf(install_path),
    isInstalled: async (artifact) => (await hashFileIfThere(install_path, fs)) === artifact.fingerprint,
    async install(artifact, signal) {
      const verified = await openVerified(artifact, signal); // (1)
      try {
        await refuseLink(install_path, fs); // (2)
        signal.throwIfAborted();
        await withFileErrors(`installing ${basename(install_path)}`, async () => {
          await fs.rename(downloadOf(artifact), install_path);
          await syncDirectory(dirname(install_path), fs);
        });
        const same = (await fs.lstat(install_path)).inode === (await verified.stat()).inode;
        if (!same) throw notTheBytes(artifact, "the file was swapped while it was installed"); // (1)
      } finally {
        await verified.close();
      }
    },
    async restore(ref, signal) {
      const { artifact } = await saved.read(ref);
      await refuseLink(install_path, fs);
      if (artifact === null) return removeDurable(install_path, fs);
      if ((await hashFileIfThere(install_path, fs, signal)) === artifact.sha256) return;
      const { sha256: expected, mode, uid, gid } = artifact;
      const options = {
        expected,
        otherwise: "BACKUP_CORRUPT",
        mode,
        owner: { uid, gid },
        fs,
        signal,
      } as const;
      await copyDurable(await saved.artifactPath(ref), install_path, options);
    },
  };
}

async function refuseLink(path: string, fs: FileSystemPort): Promise<void> {
  const kind = await fs.lstat(path).then(
    (stat) => stat.kind,
    (error: unknown) => {
      if (isMissing(error)) return "file";
      throw error;
    },
  );
  if (kind !== "file") throw new FairleadError("PATH_REFUSED", `${path} is a ${kind}, not a file`);
}

const notTheBytes = ({ fingerprint }: ArtifactRef, why: string): FairleadError =>
  new FairleadError("ARTIFACT_DIGEST_MISMATCH", `not the bytes of ${fingerprint}: ${why}`);
