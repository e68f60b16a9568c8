/** The account a program runs under. Only root can change to another one. */
import { FairleadError } from "../../core/errors.ts";
import { readBounded } from "../../host/files.ts";

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  readonly home: string;
}

const PASSWD_BYTES_MAX = 4 * 1024 * 1024;

/** Null for the agent's own account. */
export async function lookUpUser(name: string | null, passwdFile = "/etc/passwd"): Promise<User | null> {
  if (name === null) return null;
  const users = parsePasswd((await readBounded(passwdFile, PASSWD_BYTES_MAX)).toString("utf8"));
  const user = users.find((candidate) => candidate.name === name);
  if (user === undefined)
    throw new FairleadError("ACTION_FAILED", `there is no user ${name} on this machine`);
  if (process.getuid?.() === user.uid) return null;
  if (process.getuid?.() !== 0)
    throw new FairleadError("ACTION_FAILED", `only root can run a program as ${name}`);
  return user;
}

export function parsePasswd(text: string): User[] {
  return text.split("\n").flatMap((line) => {
    const [name, , uid, gid, , home] = line.split(":");
    if (name === undefined || !/^\d+$/.test(uid ?? "") || !/^\d+$/.test(gid ?? "")) return [];
    return [{ name, uid: Number(uid), gid: Number(gid), home: home ?? "/" }];
  });
}
