/** One pass over canonical bytes along their schema; null when that does not do, and somebody slower must look. */
import type { z } from "zod";
import type { Json } from "../../core/json.ts";
import { compileReader } from "./compile.ts";
import { MISS, type Read } from "./source.ts";

export interface ReadValue<T> {
  readonly value: T;
  /** Whatever stood under `organization_id`. */
  readonly organizations: ReadonlySet<string>;
}

export type ReadAlong<T> = (bytes: Uint8Array) => ReadValue<T> | null;

/** With `isSearched`, no string of what is read looks like a secret. */
export function readerFor<S extends z.ZodType>(
  schema: S,
  options: { readonly isSearched: boolean },
): ReadAlong<z.infer<S>> {
  let read: Read | null | undefined;
  return (input) => {
    read ??= compileReader(schema, options);
    if (read === null) return null;
    const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
    const source = { bytes, text: bytes.toString("latin1"), at: 0, organizations: new Set<string>() };
    const value: Json | typeof MISS = read(source);
    if (value === MISS || source.at !== bytes.length) return null;
    return { value: value as z.infer<S>, organizations: source.organizations };
  };
}
