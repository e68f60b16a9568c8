/**
 * PostgreSQL's data folder.
 *
 * 1. It is complete or absent: `initdb` works under another name until it is done.
 * 2. Only its account may enter, and only with a password that a 0600 file beside it keeps.
 */
import { randomBytes } from "node:crypto";
import { chmod, chown, mkdir, readlink, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { syncDirectory, writeDurable } from "../../host/durable-write.ts";
import { errnoOf, isMissing } from "../../host/file-errors.ts";
import { readBoundedIfThere } from "../../host/files.ts";
import { run } from "../../host/process.ts";
import { identityOf, stopProcess } from "../../host/process-identity.ts";
import type { Account } from "./account.ts";

export const POSTGRES_USER = "fairlead";

export interface ClusterPlace {
  /** Holds the data folder and the socket. */
  readonly folder: string;
  readonly data: string;
  readonly account: Account | undefined;
  readonly initdb: string;
  readonly passwordFile: string;
  readonly giveUp: AbortSignal | undefined;
}

const INITDB_TIMEOUT_MS = 60_000;
const PASSWORD_BYTES_MAX = 1_024;
const STOP_GRACE_MS = 5_000;

/** Makes the data folder if there is none, and answers with its password. */
export async function ensureCluster(place: ClusterPlace): Promise<string> {
  await makeFolder(place.folder, place.account);
  const version = await readBoundedIfThere(join(place.data, "PG_VERSION"), 16);
  return version === undefined ? initialise(place) : knownPassword(place.passwordFile);
}

async function initialise(place: ClusterPlace): Promise<string> {
  const { folder, data, account, initdb, passwordFile, giveUp } = place;
  const password = randomBytes(32).toString("base64url");
  await writeDurable(passwordFile, password); // (2)
  const unfinished = join(folder, "data.new");
  const readableOnce = join(folder, "initdb-password");
  await rm(unfinished, { recursive: true, force: true });
  await writeDurable(readableOnce, password, account === undefined ? {} : { owner: account });
  const args = [
    `--pgdata=${unfinished}`,
    `--username=${POSTGRES_USER}`,
    `--pwfile=${readableOnce}`,
    "--auth=scram-sha-256",
    "--encoding=UTF8",
    "--locale=C",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--no-instructions",
  ];
  const bounds = { timeoutMs: INITDB_TIMEOUT_MS, ...(giveUp === undefined ? {} : { signal: giveUp }) };
  const done = await run(initdb, args, { cwd: folder, ...bounds, ...account });
  await rm(readableOnce);
  if (done.kind !== "exited" || done.code !== 0) {
    const why = done.kind === "not_started" ? done.errno : done.stderr.toString("utf8").trim().slice(-2_000);
    throw new FairleadError("NOT_READY", `initdb ended with ${done.kind}: ${why}`);
  }
  await rename(unfinished, data); // (1)
  await syncDirectory(folder);
  return password;
}

async function knownPassword(passwordFile: string): Promise<string> {
  const bytes = await readBoundedIfThere(passwordFile, PASSWORD_BYTES_MAX);
  if (bytes !== undefined) return bytes.toString("utf8");
  throw new FairleadError(
    "FILE_NOT_FOUND",
    `${passwordFile} is gone, and with it the way into the database beside it`,
  );
}

async function makeFolder(folder: string, account: Account | undefined): Promise<void> {
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
  }
  if (account !== undefined) await chown(folder, account.uid, account.gid);
  await chmod(folder, 0o700);
}

/**
 * PostgreSQL judges its old pid file by the pid alone. A server in our data folder, which we hold the lock of, is a
 * leftover of ours and goes; a pid that has become another program's would keep ours from starting.
 */
export async function clearPidFile(data: string): Promise<void> {
  const file = join(data, "postmaster.pid");
  const pid = Number((await readBoundedIfThere(file, 4_096))?.toString("utf8").split("\n")[0]);
  const identity = Number.isInteger(pid) && pid > 0 ? identityOf(pid) : undefined;
  if (identity === undefined) return;
  if ((await workingFolderOf(pid)) === data)
    await stopProcess(identity, { graceMs: STOP_GRACE_MS, signal: "SIGQUIT" });
  else await rm(file, { force: true });
}

async function workingFolderOf(pid: number): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/cwd`);
  } catch (error) {
    if (isMissing(error) || errnoOf(error) === "EACCES") return undefined;
    throw error;
  }
}
