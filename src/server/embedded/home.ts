/**
 * Where the engines live: `DATA_DIR/engines`, a folder, or a link to one where the folder could not be.
 *
 * 1. Sockets in it stay within the kernel's 108 bytes, and PostgreSQL's account can reach it.
 * 2. The place is chosen once. Data that was put somewhere is found there again or missed loudly, never begun anew.
 */
import { chmod, mkdir, mkdtemp, realpath, rm, stat, symlink, unlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { syncDirectory } from "../../host/durable-write.ts";
import { errnoOf, isMissing } from "../../host/file-errors.ts";
import { nodeFileSystem } from "../../host/file-system-port.ts";
import { ensureDirectory } from "../../host/files.ts";
import { databaseAccount, isReachable, runsAsRoot } from "./account.ts";

export interface Home {
  readonly path: string;
  readonly postgresDir: string;
  readonly restateDir: string;
  readonly logDir: string;
}

const SOCKET_PATH_BYTES_MAX = 107;
const LONGEST_SOCKET = "/restate/n1/ingress.sock";
/** Others may pass, to what is theirs, and see nothing. */
const PASSABLE_MODE = 0o711;

export const nameIn = (dataDir: string): string => join(dataDir, "engines");

export async function openHome(dataDir: string): Promise<Home> {
  await ensureDirectory(dataDir, PASSABLE_MODE);
  const path = (await existingHome(dataDir)) ?? (await chooseHome(dataDir));
  if (!fits(path)) {
    throw new FairleadError(
      "INVALID_INPUT",
      `${path} is too long for a socket's path: move the data folder up`,
    ); // (1)
  }
  return {
    path,
    postgresDir: join(path, "postgres"),
    restateDir: join(path, "restate"),
    logDir: join(path, "logs"),
  };
}

/** Removes the engines and all their data. Nothing of them may run. */
export async function removeHome(dataDir: string): Promise<void> {
  const name = nameIn(dataDir);
  try {
    // What was killed a moment ago may have been writing a file.
    await rm(await realpath(name), { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    await unlink(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

async function existingHome(dataDir: string): Promise<string | undefined> {
  const name = nameIn(dataDir);
  try {
    const { kind } = await nodeFileSystem.lstat(name);
    if (kind !== "symlink") return await realpath(name);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
  try {
    return await realpath(name);
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new FairleadError(
      "FILE_NOT_FOUND",
      `the database that ${name} points to is gone; remove the link to begin anew`,
    ); // (2)
  }
}

async function chooseHome(dataDir: string): Promise<string> {
  const name = nameIn(dataDir);
  const account = await databaseAccount(join(name, "postgres"));
  const inside = join(await realpath(dataDir), "engines");
  if (fits(inside) && (await isReachable(await realpath(dataDir), account))) {
    await ensureDirectory(inside);
    await chmod(inside, PASSABLE_MODE);
    return inside;
  }
  const elsewhere = await makeElsewhere();
  await symlink(elsewhere, name);
  await syncDirectory(dataDir);
  return elsewhere;
}

/** The last place is swept by some systems after days of disuse; it is for users without a home. */
async function makeElsewhere(): Promise<string> {
  const parents = runsAsRoot()
    ? ["/var/lib/fairlead"]
    : [join(homedir(), ".local/state/fairlead"), join(tmpdir(), `fairlead-${process.getuid?.() ?? 0}`)];
  for (const parent of parents) {
    const made = await makeUnder(parent);
    if (made !== undefined && fits(made)) return made;
  }
  throw new FairleadError(
    "INVALID_INPUT",
    `no short writable folder for the engines' sockets: tried ${parents.join(", ")}`,
  );
}

async function makeUnder(parent: string): Promise<string | undefined> {
  try {
    await mkdir(parent, { recursive: true, mode: runsAsRoot() ? 0o755 : 0o700 });
    const { uid } = await stat(parent);
    if (uid !== process.getuid?.()) return undefined; // somebody else's, in a folder that all may write
    const made = await mkdtemp(join(parent, "e-"));
    await chmod(made, PASSABLE_MODE);
    return made;
  } catch (error) {
    if (["EACCES", "EROFS", "EPERM", "ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  }
}

const fits = (home: string): boolean => Buffer.byteLength(home + LONGEST_SOCKET) <= SOCKET_PATH_BYTES_MAX;
