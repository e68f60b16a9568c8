/**
 * A checked backup becomes the rows of an empty database.
 *
 * 1. One transaction: all of it, or none.
 * 2. Triggers sleep meanwhile: what they would write is in the backup already. Foreign keys stay awake.
 * 3. What is written is what was checked: the file is summed again on its way in, for it may have changed since.
 * 4. Only into tables that this build's own migrations made, of the very level that the backup has.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { FairleadError } from "../../core/errors.ts";
import type { Database, Transaction } from "../db/database.ts";
import { migrate, migrationLevel } from "../db/migrate.ts";
import { readArchive, type Entry } from "./archive.ts";
import { createTableSums, refuseOtherSums } from "./check.ts";
import type { BackupManifest, TableDump } from "./manifest.ts";
import { leaveThePast } from "./leave-the-past.ts";
import { tablesOf } from "./schema.ts";

/** Before the target is touched. */
export async function refuseOtherLevel({ migrations, version }: BackupManifest): Promise<void> {
  const own = await migrationLevel();
  const spelled = (level: BackupManifest["migrations"]): string =>
    level.map(({ name, sha256 }) => `${name} ${sha256}`).join(",");
  if (spelled(own) === spelled(migrations)) return;
  const newest = (level: BackupManifest["migrations"]): string => level.at(-1)?.name ?? "none";
  throw new FairleadError(
    "SITE_BACKUP_LEVEL",
    `the backup is of Fairlead ${version} (${newest(migrations)}), and this build's tables are of ${newest(own)}`,
    { version },
  ); // (4)
}

/** An empty database, or one that has our tables and no site in them: a server makes its site before anything else. */
export async function refuseNonEmpty(db: Database): Promise<void> {
  const [begun] = await db<{ there: boolean }[]>`select to_regclass('clusters') is not null as there`;
  if (begun!.there) {
    const [cluster] = await db<{ id: string }[]>`select id from clusters`;
    if (cluster !== undefined) throw notEmpty(`it holds the site ${cluster.id}`);
    return;
  }
  const tables = await tablesOf(db);
  if (tables.length > 0)
    throw notEmpty(`it has tables that are not Fairlead's: ${tables.map(({ name }) => name).join(", ")}`);
}

const notEmpty = (why: string): FairleadError =>
  new FairleadError("SITE_NOT_EMPTY", `the database to restore into is not empty: ${why}`);

export async function loadSite(
  db: Database,
  path: string,
  manifest: BackupManifest,
  now: number,
): Promise<void> {
  await migrate(db);
  await db.begin(async (tx) => {
    await tx`set local statement_timeout = 0`;
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await setTriggers(tx, manifest, "disable"); // (2)
    await tx`truncate ${tx(manifest.tables.map(({ name }) => name))}`; // what migrations wrote is in the backup as well
    await copyIn(tx, path, manifest);
    for (const { name, value, used } of manifest.sequences)
      await tx`select setval(${name}::regclass, ${value}, ${used})`;
    await leaveThePast(tx, now);
    await setTriggers(tx, manifest, "enable");
  }); // (1)
}

/** The owner may do this; turning foreign keys off would take a superuser. */
async function setTriggers(
  tx: Transaction,
  { tables }: BackupManifest,
  what: "enable" | "disable",
): Promise<void> {
  for (const { name } of tables)
    await (what === "enable"
      ? tx`alter table ${tx(name)} enable trigger user`
      : tx`alter table ${tx(name)} disable trigger user`);
}

async function copyIn(tx: Transaction, path: string, manifest: BackupManifest): Promise<void> {
  const entries = readArchive(path);
  const sums = createTableSums(path);
  try {
    let next = await nextPart(entries);
    for (const table of manifest.tables) {
      const own = async function* (): AsyncGenerator<Buffer> {
        for (; next?.name.startsWith(`tables/${table.name}/`) === true; next = await nextPart(entries)) {
          sums.add(next);
          yield next.bytes;
        }
      };
      await copyTable(tx, table, own());
    }
  } finally {
    await entries.return(undefined);
  }
  refuseOtherSums(path, manifest, sums.all()); // (3)
}

async function nextPart(entries: AsyncGenerator<Entry>): Promise<Entry | null> {
  const next: IteratorResult<Entry, unknown> = await entries.next();
  return next.done !== true && next.value.name.startsWith("tables/") ? next.value : null;
}

async function copyTable(tx: Transaction, table: TableDump, parts: AsyncIterable<Buffer>): Promise<void> {
  const { name, columns, rows } = table;
  const [copy] = await tx<{ text: string }[]>`
    select format('copy %I (%s) from stdin', ${name}::text,
      (select string_agg(quote_ident(c), ', ') from unnest(${columns}::text[]) c)) as text`;
  await pipeline(Readable.from(parts), await tx.unsafe(copy!.text).writable());
  const [counted] = await tx<{ rows: number }[]>`select count(*) as rows from ${tx(name)}`;
  if (counted!.rows !== rows)
    throw new FairleadError("SITE_BACKUP_DAMAGED", `${name} has ${counted!.rows} rows instead of ${rows}`);
}
