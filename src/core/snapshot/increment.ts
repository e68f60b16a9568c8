/**
 * An increment (SNAP-6): from exactly one base to the next version of one scope, signed on its own. Its result has the
 * hash of the full snapshot of that version, so a node ends in the same bytes on either way.
 */
import { z } from "zod";
import { Digest } from "../ids.ts";
import { SnapshotHeader } from "./envelope.ts";

const Counter = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

/** `config_version` and `next_config_version` are one number; `content_hash` is of the operations. */
export const IncrementHeader = SnapshotHeader.extend({
  base_config_version: Counter,
  base_content_hash: Digest,
  next_config_version: Counter,
  result_content_hash: Digest,
});
export type IncrementHeader = z.infer<typeof IncrementHeader>;

export const isIncrement = (header: SnapshotHeader | IncrementHeader): header is IncrementHeader =>
  "result_content_hash" in header;

/** Of the content that is in force under this header, on whichever way it came. */
export const contentHashOf = (header: SnapshotHeader | IncrementHeader): Digest =>
  isIncrement(header) ? header.result_content_hash : header.content_hash;

const Pointer = z
  .string()
  .max(1000)
  .regex(/^(?:\/(?:[^~/]|~[01])*)*$/, "not a JSON pointer");

/** The six operations of RFC 6902. */
export const PatchOperation = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("add"), path: Pointer, value: z.json() }),
  z.strictObject({ op: z.literal("replace"), path: Pointer, value: z.json() }),
  z.strictObject({ op: z.literal("remove"), path: Pointer }),
  z.strictObject({ op: z.literal("move"), from: Pointer, path: Pointer }),
  z.strictObject({ op: z.literal("copy"), from: Pointer, path: Pointer }),
  z.strictObject({ op: z.literal("test"), path: Pointer, value: z.json() }),
]);
export type PatchOperation = z.infer<typeof PatchOperation>;

/** Patch operations, or whole sections to put in place; a section of null is removed. */
export const IncrementContent = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("patch"), operations: z.array(PatchOperation).min(1).max(10_000) }),
  z.strictObject({ kind: z.literal("sections"), sections: z.record(z.string().max(64), z.json()) }),
]);
export type IncrementContent = z.infer<typeof IncrementContent>;
