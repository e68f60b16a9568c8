/** A backup's description of itself: after all parts, so that it holds their sums, and before its signature. */
import { z } from "zod";
import { ClusterId, Instant } from "../../core/ids.ts";

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Identifier = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/);

const Migration = z.strictObject({ name: z.string().max(200), sha256: Sha256 });

const TableDump = z.strictObject({
  name: Identifier,
  columns: z.array(Identifier).min(1).max(200),
  parts: z.int().min(0),
  rows: z.int().min(0),
  bytes: z.int().min(0),
  sha256: Sha256,
});
export type TableDump = z.infer<typeof TableDump>;

const Sequence = z.strictObject({ name: Identifier, value: z.int().min(1), used: z.boolean() });

export const BackupManifest = z.strictObject({
  format: z.literal(2),
  cluster_id: ClusterId,
  created_at: Instant,
  /** Of the Fairlead that wrote it. */
  version: z.string().max(50),
  epoch: z.int().min(1),
  migrations: z.array(Migration).max(1000),
  /** In an order in which no row comes before one that it refers to. */
  tables: z.array(TableDump).max(500),
  sequences: z.array(Sequence).max(500),
  /** The digest of the sealed key files; null: they are not in it. */
  keys: Sha256.nullable(),
});
export type BackupManifest = z.infer<typeof BackupManifest>;

export const MANIFEST_ENTRY = "manifest.json";
export const SIGNATURE_ENTRY = "signature.json";
export const KEYS_ENTRY = "keys.sealed";
export const partName = (table: string, part: number): string =>
  `tables/${table}/${String(part).padStart(6, "0")}`;
