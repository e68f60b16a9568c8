/** A newer Fairlead: this tree with a higher version and one migration more, beside it. */
import { copyFile, cp, mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { inRoot } from "../../../scripts/root.mjs";

export const NEWER_VERSION = "99.0.0";
export const NEWER_TABLE = "of_the_newer_build";

/** Answers with its command. */
export async function newerBuild(folder: string): Promise<string> {
  const root = join(folder, "newer-build");
  await mkdir(root);
  for (const part of ["bin", "src", "scripts", "dist"])
    await cp(inRoot(part), join(root, part), { recursive: true });
  await symlink(inRoot("node_modules"), join(root, "node_modules"));
  await copyFile(inRoot("package.json"), join(root, "package.json"));
  await writeFile(
    join(root, "src/core/version.ts"),
    `export const FAIRLEAD_VERSION = ${JSON.stringify(NEWER_VERSION)};\n`,
  );
  const migration = join(root, "src/server/db/migrations", "9999_newer_build.sql");
  await writeFile(migration, `create table ${NEWER_TABLE} (id int primary key);\n`);
  return join(root, "bin", "fairlead.mjs");
}
