/**
 * Append-only migrations, safe for several replicas that start at once.
 *
 * 1. One advisory lock: the second replica waits and finds nothing to do.
 * 2. Each file runs in one transaction with the row that records it.
 * 3. A file that was applied and has changed since is refused.
 */
import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { FairleadError } from "../../core/errors.ts";
import { sha256Hex } from "../../trust/digest.ts";
import type { Database } from "./database.ts";
import { LOCKS } from "./locks.ts";

const MIGRATIONS = fileURLToPath(new URL("./migrations/", import.meta.url));

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith(".sql")).toSorted();

/** The migrations of this build. */
export async function migrationLevel(folder = MIGRATIONS): Promise<{ name: string; sha256: string }[]> {
  const level = (await filesIn(folder)).map(async (name) => ({
    name,
    sha256: sha256Hex(await readFile(`${folder}/${name}`, "utf8")),
  }));
  return Promise.all(level);
}

export async function migrate(db: Database, folder = MIGRATIONS): Promise<readonly string[]> {
  const files = await filesIn(folder);
  const session = await db.reserve();
  try {
    await session`select pg_advisory_lock(${LOCKS.migrate})`;
    await session`create table if not exists migrations (name text primary key, sha256 text not null, applied_at timestamptz not null default now())`;
    const rows = await session<{ name: string; sha256: string }[]>`select name, sha256 from migrations`;
    const applied = new Map(rows.map((row) => [row.name, row.sha256]));
    const fresh: string[] = [];
    for (const name of files) {
      const text = await readFile(`${folder}/${name}`, "utf8");
      const hash = sha256Hex(text);
      const before = applied.get(name);
      if (before === hash) continue;
      if (before !== undefined)
        throw new FairleadError("INTERNAL", `migration ${name} was changed after it was applied`);
      await session`begin`;
      try {
        await session.unsafe(text);
        await session`insert into migrations (name, sha256) values (${name}, ${hash})`;
        await session`commit`;
      } catch (error) {
        await session`rollback`;
        throw error;
      }
      fresh.push(name);
    }
    return fresh;
  } finally {
    await session`select pg_advisory_unlock(${LOCKS.migrate})`.catch(() => undefined);
    session.release();
  }
}
