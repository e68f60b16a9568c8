/**
 * Server and agent of an earlier commit, built from the repository's history with that commit's own lockfile and by its
 * own scripts.
 *
 * 1. Installed dependencies are shared where both lockfiles are the same bytes; otherwise that commit's `npm ci` runs.
 */
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inRoot } from "../../../scripts/root.mjs";
import { NODE } from "../../../src/demo/command.ts";
import { run } from "../../../src/host/process.ts";

/** The last commit whose messages have no protocol number. */
export const BEFORE_PROTOCOL_NUMBERS = "df0f076b4cb58b74d9134c3ab1a6271326b8857d";

const ARCHIVE_BYTES_MAX = 256 * 1024 * 1024;
const BUILD_TIMEOUT_MS = 300_000;

export interface EarlierBuild {
  /** Its `bin/fairlead.mjs`. */
  readonly fairlead: string;
  remove(): Promise<void>;
}

/** Whether history goes back that far: in a shallow clone it does not. */
export function hasCommit(commit: string): boolean {
  try {
    execFileSync("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: inRoot("."), stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

export async function buildEarlier(commit: string): Promise<EarlierBuild> {
  const folder = await mkdtemp(join(tmpdir(), "fl-e-"));
  const archive = execFileSync("git", ["archive", "--format=tar", commit], {
    cwd: inRoot("."),
    maxBuffer: ARCHIVE_BYTES_MAX,
  });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  const lockfiles = await Promise.all(
    [inRoot("package-lock.json"), join(folder, "package-lock.json")].map(async (path) => readFile(path)),
  );
  if (lockfiles[0]!.equals(lockfiles[1]!))
    await symlink(inRoot("node_modules"), join(folder, "node_modules")); // (1)
  const built = await run(NODE, [join(folder, "scripts", "bootstrap.mjs"), "--build"], {
    env: process.env as Record<string, string>, // npm finds its registry and its cache there
    cwd: folder,
    timeoutMs: BUILD_TIMEOUT_MS,
  });
  if (built.kind !== "exited" || built.code !== 0)
    throw new Error(
      `${commit} was not built: ${built.kind} ${"stderr" in built ? built.stderr.toString() : ""}`,
    );
  return {
    fairlead: join(folder, "bin", "fairlead.mjs"),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
