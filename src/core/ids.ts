/**
 * Branded ids and digests: a plain string never stands in for one.
 * All come from the edge through these schemas, and only through them.
 */
import { z } from "zod";

export const Uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, "not a uuid");

export const ClusterId = Uuid.brand<"ClusterId">();
export type ClusterId = z.infer<typeof ClusterId>;
export const NodeId = Uuid.brand<"NodeId">();
export type NodeId = z.infer<typeof NodeId>;
export const RolloutId = Uuid.brand<"RolloutId">();
export type RolloutId = z.infer<typeof RolloutId>;
export const CommandId = Uuid.brand<"CommandId">();
export type CommandId = z.infer<typeof CommandId>;
export const SnapshotId = Uuid.brand<"SnapshotId">();
export type SnapshotId = z.infer<typeof SnapshotId>;

/** `sha256:<64 hex>`: names bytes. */
export const Digest = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/, "not a sha256 digest")
  .brand<"Digest">();
export type Digest = z.infer<typeof Digest>;

/** Hash of a key's SPKI bytes: two ids for one key cannot exist. */
export const KeyId = z
  .string()
  .regex(/^[0-9a-f]{64}$/, "not a key id")
  .brand<"KeyId">();
export type KeyId = z.infer<typeof KeyId>;

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** A name that becomes a path segment or a label: no separator, no dot in front. */
export const Name = z.string().min(1).max(100).regex(NAME, "letters, digits, dot, dash and underscore only");
export const ProfileId = Name.brand<"ProfileId">();
export type ProfileId = z.infer<typeof ProfileId>;
export const UpgradeId = Name.brand<"UpgradeId">();
export type UpgradeId = z.infer<typeof UpgradeId>;

export const Version = z
  .string()
  .min(1)
  .max(50)
  .regex(/^[A-Za-z0-9][A-Za-z0-9._+-]*$/, "letters, digits, dot, dash, plus and underscore only");

/**
 * RFC 3339 in UTC from 1970 on, and a day that exists: `Date.parse` takes 30 February, and PostgreSQL has no year 0.
 * A machine without a battery starts at 1970 and not before.
 */
export const Instant = z
  .string()
  .max(30)
  .refine(isInstant, "not a UTC time such as 2026-01-31T12:00:00.000Z");

const YEAR_MIN = 1970;

export function isInstant(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})T(\d{2}):(\d{2}):(\d{2})(?:\.\d{1,3})?Z$/.exec(text);
  if (match === null) return false;
  const [, year, month, day, hour, minute, second] = match.map(Number);
  if (year! < YEAR_MIN) return false;
  if (month! < 1 || month! > 12 || hour! > 23 || minute! > 59 || second! > 59) return false;
  const leap = year! % 4 === 0 && (year! % 100 !== 0 || year! % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day! >= 1 && day! <= days[month! - 1]!;
}
