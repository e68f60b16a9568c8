/**
 * All tables of a site, as they were at one moment, while it goes on working: one transaction that sees what was there
 * when it began, and nothing of what comes.
 */
import { createHash } from "node:crypto";
import type { Readable } from "node:stream";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import { sha256Hex } from "../../trust/digest.ts";
import type { Database, Transaction } from "../db/database.ts";
import { SITE_CA_FILE, type SiteRoot } from "../identity/site-ca.ts";
import { FAIRLEAD_VERSION } from "../../core/version.ts";
import { writeArchive, type Entry } from "./archive.ts";
import { signManifest } from "./authenticity.ts";
import {
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  partName,
  SIGNATURE_ENTRY,
  type BackupManifest,
  type TableDump,
} from "./manifest.ts";
import { sequencesOf, tablesOf, type TableShape } from "./schema.ts";

const PART_BYTES = 1024 * 1024;
const NEWLINE = 0x0a;

export interface DumpOptions {
  readonly path: string;
  readonly now: number;
  readonly root: SiteRoot;
  /** Null: without key files. */
  readonly sealedKeys: ((clusterId: ClusterId) => Promise<Buffer>) | null;
}

export async function dumpSite(db: Database, options: DumpOptions): Promise<BackupManifest> {
  let manifest: BackupManifest | undefined;
  await db.begin("isolation level repeatable read read only", async (tx) => {
    // A large table on a slow disk takes its time, and nobody waits for this one's locks.
    await tx`set local statement_timeout = 0`;
    await tx`set local idle_in_transaction_session_timeout = 0`;
    await writeArchive(
      options.path,
      entriesOf(tx, options, (made) => (manifest = made)),
    );
  });
  return manifest!;
}

async function* entriesOf(
  tx: Transaction,
  { now, root, sealedKeys }: DumpOptions,
  onManifest: (manifest: BackupManifest) => void,
): AsyncGenerator<Entry> {
  const [site] = await tx<{ id: ClusterId; ca_pin: string | null; epoch: number }[]>`
    select id, ca_pin, (select coalesce(max(epoch), 1) from trust_bundles) as epoch from clusters`;
  refuseOtherSite(site!.ca_pin, root);
  const tables: TableDump[] = [];
  for (const shape of await tablesOf(tx)) tables.push(yield* partsOf(tx, shape));
  const keys = sealedKeys === null ? null : await sealedKeys(site!.id);
  if (keys !== null) yield { name: KEYS_ENTRY, bytes: keys };
  const manifest: BackupManifest = {
    format: 2,
    cluster_id: site!.id,
    created_at: new Date(now).toISOString(),
    version: FAIRLEAD_VERSION,
    epoch: site!.epoch,
    migrations: await tx<
      { name: string; sha256: string }[]
    >`select name, sha256 from migrations order by name`,
    tables,
    sequences: await valuesOf(tx), // after the rows: never behind them
    keys: keys === null ? null : sha256Hex(keys),
  };
  onManifest(manifest);
  const bytes = Buffer.from(JSON.stringify(manifest));
  yield { name: MANIFEST_ENTRY, bytes };
  yield { name: SIGNATURE_ENTRY, bytes: signManifest(root, bytes) };
}

/** Signed by another site's CA, the file could never be restored as this site. */
function refuseOtherSite(caPin: string | null, root: SiteRoot): void {
  if (caPin === null || caPin === root.pin) return;
  throw new FairleadError(
    "SITE_KEYS_MISSING",
    `the keys folder is of another site: its CA is ${root.pin}, and the database's is ${caPin}`,
    { foreign: [SITE_CA_FILE] },
  );
}

async function* partsOf(tx: Transaction, { name, columns }: TableShape): AsyncGenerator<Entry, TableDump> {
  const hash = createHash("sha256");
  let [parts, rows, bytes] = [0, 0, 0];
  const [copy] = await tx<{ text: string }[]>`
    select format('copy %I (%s) to stdout', ${name}::text,
      (select string_agg(quote_ident(c), ', ') from unnest(${[...columns]}::text[]) c)) as text`;
  const rowsOut: Readable = await tx.unsafe(copy!.text).readable();
  for await (const part of gathered(rowsOut)) {
    for (const byte of part) if (byte === NEWLINE) rows += 1; // in text format a row's own newlines are written \n
    hash.update(part);
    bytes += part.length;
    yield { name: partName(name, parts++), bytes: part };
  }
  return { name, columns: [...columns], parts, rows, bytes, sha256: hash.digest("hex") };
}

/** Rows come one by one; entries should not. */
async function* gathered(rows: Readable): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let size = 0;
  for await (const chunk of rows) {
    for (let rest = chunk as Buffer; rest.length > 0; rest = rest.subarray(PART_BYTES)) {
      const piece = rest.subarray(0, PART_BYTES);
      held.push(piece);
      size += piece.length;
      if (size < PART_BYTES) continue;
      yield Buffer.concat(held, size);
      held = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(held, size);
}

async function valuesOf(tx: Transaction): Promise<BackupManifest["sequences"]> {
  const values: BackupManifest["sequences"] = [];
  for (const name of await sequencesOf(tx)) {
    const [row] = await tx<{ value: number; used: boolean }[]>`
      select last_value as value, is_called as used from ${tx(name)}`;
    values.push({ name, ...row! });
  }
  return values;
}
