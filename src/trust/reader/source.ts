/** Canonical bytes on their way through a reader, and the few steps that every reader takes. */
import type { Json } from "../../core/json.ts";

export interface Source {
  readonly bytes: Uint8Array;
  /** The same bytes, one character each: strings are cut out of it. */
  readonly text: string;
  /** Where the next value begins. */
  at: number;
  /** Whatever stood under `organization_id`. */
  readonly organizations: Set<string>;
}

/** Not a value of this schema in canonical form, or one that this reader does not know: somebody slower must look. */
export const MISS = Symbol("miss");

/** Reads one value and moves on behind it; after a miss, where it stands means nothing. */
export type Read = (source: Source) => Json | typeof MISS;

export const bytesOf = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "latin1"));

/** Moves on behind these very bytes, or stays. */
export function take(source: Source, expected: Uint8Array): boolean {
  const { bytes, at } = source;
  for (let index = 0; index < expected.length; index++) {
    if (bytes[at + index] !== expected[index]) return false;
  }
  source.at = at + expected.length;
  return true;
}
