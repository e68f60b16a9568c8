/** A copy of this clone under a 0700 folder, for another user where we may choose one. */
import { execFileSync } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { inRoot } from "../../../scripts/root.mjs";

const NOBODY = 65_534;

export interface Clone {
  readonly folder: string;
  readonly root: string;
  /** Empty when we are no root ourselves: then the user is us. */
  readonly user: { readonly uid?: number; readonly gid?: number };
  remove(): Promise<void>;
}

export async function cloneForUser(): Promise<Clone> {
  const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const folder = await mkdtemp("/tmp/fl-u-"); // 0700
  const root = join(folder, "clone");
  await mkdir(root);
  const listed = execFileSync("git", ["ls-files", "-coz", "--exclude-standard"], {
    cwd: inRoot("."),
    encoding: "utf8",
  });
  const built = ["dist", ".cache/build"];
  const cp = (args: readonly string[]) => execFileSync("cp", [...args, "-t", root], { cwd: inRoot(".") });
  cp(["-a", "--parents", ...listed.split("\0").filter((path) => path !== ""), ...built]);
  if (user.uid !== undefined) execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, folder]);
  // A gigabyte of dependencies is shared where that is possible; then its files stay whose they are.
  const shared = await canBeShared(root);
  cp([shared ? "-al" : "-a", "node_modules"]);
  if (user.uid !== undefined) await giveAway(join(root, "node_modules"), shared);
  await chmod(folder, 0o700);
  return { folder, root, user, remove: () => rm(folder, { recursive: true, force: true }) };
}

/** By links: on one file system, and readable for everybody. */
async function canBeShared(root: string): Promise<boolean> {
  const [there, here] = await Promise.all([stat(inRoot("node_modules/.bin/node")), stat(root)]);
  return there.dev === here.dev && (there.mode & 0o005) === 0o005;
}

async function giveAway(modules: string, shared: boolean): Promise<void> {
  if (shared) await chown(modules, NOBODY, NOBODY);
  else execFileSync("chown", ["-R", `${NOBODY}:${NOBODY}`, modules]);
}
