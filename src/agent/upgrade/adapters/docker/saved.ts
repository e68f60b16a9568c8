/**
 * The container as it was before an upgrade, in the backup's folder (ROLL-9). The container itself is only set aside;
 * this is what it is made from again should somebody tidy up stopped containers in between.
 */
import { join } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../../../core/errors.ts";
import { Digest } from "../../../../core/ids.ts";
import type { Clock } from "../../../../host/clock.ts";
import { removeDurable } from "../../../../host/durable-write.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import { ensureDirectory, readJson, writeJsonDurable } from "../../../../host/files.ts";
import type { Logger } from "../../../../host/log.ts";
import type { DockerProgram } from "../../../programs/config.ts";
import type { Backup, BackupRef } from "../../backup/manifest.ts";
import type { BackupRequest } from "../../port.ts";
import { type StateBackup, stateBackup } from "../files/state-backup.ts";
import { inspect, isOn } from "./containers.ts";
import type { Engine } from "./engine.ts";
import { fingerprintOf, imageOf } from "./images.ts";
import { runOf } from "./labels.ts";
import type { NoteBook } from "./notes.ts";
import { wantedRestart } from "./restart-policy.ts";
import { Container, RestartPolicy } from "./schemas.ts";

export const SavedContainer = z.object({ fingerprint: Digest, restart: RestartPolicy, container: Container });
export type SavedContainer = z.infer<typeof SavedContainer>;

export interface ContainerBackup {
  readonly files: StateBackup;
  save(request: BackupRequest, signal: AbortSignal): Promise<BackupRef>;
  /** Checks every byte; the artifact's digest is the image's. */
  read(ref: BackupRef): Promise<Backup>;
  /** Null when there was no container. */
  container(ref: BackupRef): Promise<SavedContainer | null>;
}

export interface ContainerBackupDeps {
  readonly program: DockerProgram;
  readonly folder: string;
  readonly engine: Engine;
  readonly notes: NoteBook;
  readonly clock: Clock;
  readonly log?: Pick<Logger, "warn"> | undefined;
  readonly fs: FileSystemPort;
}

export function containerBackup({
  program,
  folder,
  engine,
  notes,
  clock,
  log,
  fs,
}: ContainerBackupDeps): ContainerBackup {
  // Written down first, so that it is saved as any other program's file is: copied, synced, with its digest.
  const description = join(folder, "container.json");
  const { data_dir, config_dir } = program;
  const files = stateBackup({
    program: { install_path: description, data_dir, config_dir },
    fs,
    clock,
    log,
  });

  async function container(ref: BackupRef): Promise<SavedContainer | null> {
    if ((await files.read(ref)).artifact === null) return null;
    return readJson(await files.artifactPath(ref), SavedContainer, fs);
  }

  return {
    files,
    container,
    async save(request, signal) {
      const current = await inspect(engine, program.container);
      signal.throwIfAborted();
      if (current === null) {
        await removeDurable(description, fs);
        return files.save(request, { ran: false, run: program.run }, signal);
      }
      refuseUnkept(current);
      await imageOf(engine, current); // without it the new container could not be made, and the program still runs
      const fingerprint = await fingerprintOf(engine, current, program.image_repositories);
      const saved: SavedContainer = {
        fingerprint,
        restart: await wantedRestart(current, notes),
        container: current,
      };
      await ensureDirectory(folder, 0o700, fs);
      await writeJsonDurable(description, saved, { fs, soleWriter: true });
      return files.save(request, { ran: isOn(current), run: runOf(current, program.run) }, signal);
    },
    async read(ref) {
      const backup = await files.read(ref);
      const saved = await container(ref);
      if (backup.artifact === null || saved === null) return backup;
      return { ...backup, artifact: { ...backup.artifact, sha256: saved.fingerprint } };
    },
  };
}

/** The engine removes such a container when it stops: there would be nothing to go back to. */
function refuseUnkept({ Name, HostConfig }: Container): void {
  if (HostConfig.AutoRemove)
    throw new FairleadError(
      "ACTION_FAILED",
      `${Name} was made with --rm and would be gone once it is stopped`,
    );
}
