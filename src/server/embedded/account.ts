/**
 * The account PostgreSQL runs under: it refuses root, so as root it gets another, and then every folder on the way to
 * its binaries and its data must let that account pass.
 */
import { lstat, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { FairleadError } from "../../core/errors.ts";
import { readBounded } from "../../host/files.ts";
import { isMissing } from "../../host/file-errors.ts";

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const PASSWD_BYTES_MAX = 1024 * 1024;
/** The first that exists; `nobody` exists everywhere. */
const ACCOUNTS = ["fairlead", "postgres", "nobody"];

export const runsAsRoot = (): boolean => process.getuid?.() === 0;

/** Undefined: run as ourselves. Data that exists keeps its owner, whatever accounts have come since. */
export async function databaseAccount(dataPath: string): Promise<Account | undefined> {
  if (!runsAsRoot()) return undefined;
  const owner = await ownerOf(dataPath);
  if (owner !== undefined && owner.uid !== 0) return owner;
  const accounts = parsePasswd((await readBounded("/etc/passwd", PASSWD_BYTES_MAX)).toString("utf8"));
  for (const name of ACCOUNTS) {
    const account = accounts.get(name);
    if (account !== undefined && account.uid !== 0) return account;
  }
  throw new FairleadError("NOT_READY", `PostgreSQL refuses root and none of ${ACCOUNTS.join(", ")} exists`);
}

/** Whether the account may pass through every folder from the root to `path`, itself included. */
export async function isReachable(path: string, account: Account | undefined): Promise<boolean> {
  if (account === undefined) return true;
  for (let folder = path; ; folder = dirname(folder)) {
    if (!mayPass(await stat(folder), account)) return false;
    if (folder === dirname(folder)) return true;
  }
}

function mayPass(folder: { mode: number; uid: number; gid: number }, { uid, gid }: Account): boolean {
  const bit = folder.uid === uid ? 0o100 : folder.gid === gid ? 0o010 : 0o001;
  return (folder.mode & bit) !== 0;
}

export function parsePasswd(text: string): Map<string, Account> {
  const accounts = new Map<string, Account>();
  for (const line of text.split("\n")) {
    const [name, , uid, gid] = line.split(":");
    if (name && uid && gid) accounts.set(name, { uid: Number(uid), gid: Number(gid) });
  }
  return accounts;
}

async function ownerOf(path: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await lstat(path);
    return { uid, gid };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
