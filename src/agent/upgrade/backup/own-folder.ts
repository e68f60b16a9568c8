/**
 * Folders that are ours alone, in a folder that is somebody else's.
 *
 * 1. Whoever owns a folder may at any moment lay a link where one of its folders was. So a folder is opened, through no
 *    link, and what is in it is named by what was opened.
 * 2. Only its owner may write to it: nobody else can have put into it what is there, or swap it.
 */
import { FairleadError } from "../../../core/errors.ts";
import { errnoOf } from "../../../host/file-errors.ts";
import {
  type EntryStat,
  type FileSystemPort,
  OPEN_DIRECTORY_ITSELF,
} from "../../../host/file-system-port.ts";

const OTHERS_WRITE = 0o022;
/** Gone, a link (which of the two depends on the kernel), a file. */
const NO_FOLDER = ["ENOENT", "ELOOP", "ENOTDIR"];

const isOurs = ({ uid, mode }: EntryStat): boolean =>
  uid === process.getuid!() && (mode & OTHERS_WRITE) === 0; // (2)

/** Works in the folder, by a path that stays valid until it returns. False, and no work, when there is none of ours. */
export async function inOwnFolder(
  path: string,
  fs: FileSystemPort,
  work: (path: string) => Promise<void>,
): Promise<boolean> {
  const folder = await fs.open(path, OPEN_DIRECTORY_ITSELF).catch((error: unknown) => {
    if (NO_FOLDER.includes(errnoOf(error) ?? "")) return undefined;
    throw error;
  });
  if (folder === undefined) return false;
  try {
    if (!isOurs(await folder.stat())) return false;
    await work(folder.path); // (1)
    return true;
  } finally {
    await folder.close();
  }
}

/** Codes: PATH_REFUSED for something that is there and not ours. */
export async function refuseStrange(path: string, fs: FileSystemPort): Promise<void> {
  const stat = await fs.lstat(path).catch((error: unknown) => {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (stat !== undefined && (stat.kind !== "directory" || !isOurs(stat)))
    throw new FairleadError("PATH_REFUSED", `${path} is not a folder that only the agent can write to`);
}
