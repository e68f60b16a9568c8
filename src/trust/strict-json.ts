/**
 * Parses bytes that were signed, and nothing that two parsers could read differently.
 *
 * 1. What was signed is compared byte for byte with its own canonical form, so duplicate keys,
 *    odd escapes, 1e400, -0 and stray white space cannot get through.
 * 2. Nesting is bounded before JSON.parse sees a byte.
 */
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { canonicalBytes } from "./canonical-json.ts";

const DEPTH_MAX = 64;

/** Invariant 1. */
export function parseCanonical(bytes: Uint8Array): Json {
  const value = parseBounded(bytes);
  if (!isCanonical(value, bytes)) throw malformed("not in canonical form");
  return value;
}

function isCanonical(value: Json, bytes: Uint8Array): boolean {
  try {
    return canonicalBytes(value).equals(bytes);
  } catch {
    return false; // no canonical form at all: a lone surrogate, -0, 1e400
  }
}

export function parseBounded(bytes: Uint8Array): Json {
  refuseDeepNesting(bytes);
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)) as Json;
  } catch {
    throw malformed("not JSON");
  }
}

/** JSON.parse recurses: 100,000 brackets would exhaust the stack before any schema looks. */
function refuseDeepNesting(bytes: Uint8Array): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (inString) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) inString = false;
    } else if (byte === 0x22) inString = true;
    else if (byte === 0x5b || byte === 0x7b) {
      if (++depth > DEPTH_MAX) throw malformed("nested too deeply");
    } else if (byte === 0x5d || byte === 0x7d) depth--;
  }
}

const malformed = (why: string): FairleadError =>
  new FairleadError("SNAPSHOT_MALFORMED", `bytes refused: ${why}`);
