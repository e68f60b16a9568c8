/** Reads a backup to its end before anything is made of it: every sum, every part, its signature, nothing beside them. */
import { createHash } from "node:crypto";
import type { FairleadError } from "../../core/errors.ts";
import { sha256Hex } from "../../trust/digest.ts";
import { damaged, readArchive, type Entry } from "./archive.ts";
import { signerOf } from "./authenticity.ts";
import {
  BackupManifest,
  KEYS_ENTRY,
  MANIFEST_ENTRY,
  partName,
  SIGNATURE_ENTRY,
  type TableDump,
} from "./manifest.ts";

export interface CheckedBackup {
  readonly manifest: BackupManifest;
  /** The pin of the CA that signed it. */
  readonly signer: string;
  /** As they lie in it: sealed. */
  readonly keys: Buffer | null;
}

interface Seen {
  readonly parts: number;
  readonly bytes: number;
  readonly sha256: string;
}

export async function checkBackup(path: string): Promise<CheckedBackup> {
  const tables = createTableSums(path);
  const ends: Entry[] = [];
  let keys: Buffer | null = null;
  for await (const entry of readArchive(path)) {
    const isEnd = entry.name === MANIFEST_ENTRY || entry.name === SIGNATURE_ENTRY;
    if (ends.length > 0 && !isEnd) throw wrong(path, "something comes after its manifest");
    if (isEnd) ends.push(entry);
    else if (entry.name.startsWith("tables/")) tables.add(entry);
    else if (entry.name === KEYS_ENTRY && keys === null) keys = entry.bytes;
    else throw wrong(path, `${entry.name} is no part of a backup`);
  }
  const [last, signature, ...more] = ends;
  if (last?.name !== MANIFEST_ENTRY) throw wrong(path, "its manifest is missing");
  if (signature?.name !== SIGNATURE_ENTRY || more.length > 0)
    throw wrong(path, "it does not end in one signature");
  const signer = signerOf(path, last.bytes, signature.bytes);
  const manifest = manifestIn(path, last.bytes);
  const seen = tables.all();
  refuseOtherSums(path, manifest, seen);
  for (const name of seen.keys())
    if (!manifest.tables.some((table) => table.name === name))
      throw wrong(path, `its manifest does not name ${name}`);
  if ((keys === null ? null : sha256Hex(keys)) !== manifest.keys)
    throw wrong(path, "its key files have another sum");
  return { manifest, signer, keys };
}

export function createTableSums(path: string) {
  const tables = new Map<string, { parts: number; bytes: number; hash: ReturnType<typeof createHash> }>();
  return {
    add({ name, bytes }: Entry): void {
      const table = name.split("/")[1] ?? "";
      const sums = tables.get(table) ?? { parts: 0, bytes: 0, hash: createHash("sha256") };
      if (name !== partName(table, sums.parts)) throw wrong(path, `${name} is out of order`);
      sums.hash.update(bytes);
      tables.set(table, { ...sums, parts: sums.parts + 1, bytes: sums.bytes + bytes.length });
    },
    all: (): ReadonlyMap<string, Seen> =>
      new Map(
        [...tables].map(([name, { parts, bytes, hash }]) => [
          name,
          { parts, bytes, sha256: hash.digest("hex") },
        ]),
      ),
  };
}

export function refuseOtherSums(
  path: string,
  { tables }: BackupManifest,
  seen: ReadonlyMap<string, Seen>,
): void {
  for (const table of tables) refuseDifferent(path, table, seen.get(table.name));
}

function refuseDifferent(
  path: string,
  { name, parts, bytes, sha256 }: TableDump,
  seen: Seen | undefined,
): void {
  if (seen === undefined && parts === 0) return;
  if (seen?.parts === parts && seen.bytes === bytes && seen.sha256 === sha256) return;
  throw wrong(path, `the table ${name} has another sum`);
}

function manifestIn(path: string, bytes: Buffer): BackupManifest {
  try {
    return BackupManifest.parse(JSON.parse(bytes.toString("utf8")));
  } catch {
    throw wrong(path, "its manifest is not understood: it may be of a newer Fairlead");
  }
}

const wrong = (path: string, why: string): FairleadError => damaged(path, new Error(why));
