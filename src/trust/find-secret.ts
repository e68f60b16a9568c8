/**
 * Check 12: no raw secret travels in a snapshot. The structure types every string; this is the second wall.
 *
 * 1. Wrapping hides nothing: base64 and base64url, broken over lines, hex, JSON in a string, in layers.
 * 2. What only looks random is no secret: digests, ids and public keys say nothing here.
 */
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { bytesLookLike, nameSaysSecret, textLooksLike } from "./secret-patterns.ts";
import { parseBounded } from "./strict-json.ts";

const WRAPPINGS_MAX = 4;
const PACKED = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;
const PACKED_RUNS = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const HEX = /^(?:[0-9a-fA-F]{2}){40,}$/;

/**
 * Strings and names that were found to be no secrets: what snapshots hold repeats, and looking costs more than signing.
 * Forgotten when it is full.
 */
const HARMLESS_MAX = 20_000;
const HARMLESS_CHARS_MAX = 300;
const harmless = new Set<string>();

function remember(text: string): void {
  if (text.length > HARMLESS_CHARS_MAX) return;
  if (harmless.size >= HARMLESS_MAX) harmless.clear();
  harmless.add(text);
}

export interface FoundSecret {
  readonly path: string;
  readonly looksLike: string;
}

export const findSecret = (value: Json): FoundSecret | null => search(value, "content", WRAPPINGS_MAX);

function search(value: Json | undefined, path: string, wrappings: number): FoundSecret | null {
  if (typeof value === "string") {
    if (wrappings === WRAPPINGS_MAX && harmless.has(value)) return null;
    const looksLike = secretIn(value, wrappings);
    if (looksLike !== null) return { path, looksLike };
    if (wrappings === WRAPPINGS_MAX) remember(value);
    return null;
  }
  if (value === null || typeof value !== "object") return null;
  for (const [key, item] of Object.entries(value)) {
    const here = `${path}.${key}`;
    if (!Array.isArray(value) && nameSaysSecret(key, item))
      return { path: here, looksLike: "a secret by its name" };
    const found = search(item, here, wrappings);
    if (found !== null) return found;
  }
  return null;
}

export const secretInText = (text: string): string | null => secretIn(text, WRAPPINGS_MAX);

/** Invariant 2. */
const SHAPES = /^(?:(?:sha256:)?[0-9a-f]{64}|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/;
/** Every pattern, and every wrapping, needs one of these. Most strings have none, and nothing more is asked of them. */
const SUSPECT = /[=@$'"{[\\\s]|[A-Za-z0-9+/_-]{15}/;
const isPlain = (text: string): boolean => !SUSPECT.test(text) || SHAPES.test(text);

function secretIn(text: string, wrappings: number): string | null {
  if (isPlain(text)) return null;
  const looksLike = textLooksLike(text);
  if (looksLike !== null || wrappings === 0) return looksLike;
  for (const inner of unwrapped(text)) {
    // Without its zeros, text of two bytes a letter reads like any other.
    const found = bytesLookLike(inner) ?? secretIn(inner.replaceAll("\0", ""), wrappings - 1);
    if (found !== null) return found;
  }
  const json = jsonIn(text);
  return json === null ? null : (search(json, "", wrappings - 1)?.looksLike ?? null);
}

/** Invariant 1, as Latin-1 text: the patterns are ASCII. */
function* unwrapped(text: string): Generator<string> {
  const packed = text.replaceAll(/\s/g, "");
  if (HEX.test(packed)) yield Buffer.from(packed, "hex").toString("latin1");
  if (PACKED.test(packed)) yield fromBase64(packed);
  if (packed.length === text.length && PACKED.test(text)) return;
  for (const [run] of text.matchAll(PACKED_RUNS)) yield fromBase64(run);
}

/** Reads base64url as well. */
const fromBase64 = (packed: string): string => Buffer.from(packed, "base64").toString("latin1");

function jsonIn(text: string): Json {
  if (!/^\s*[[{"]/.test(text)) return null;
  try {
    return parseBounded(Buffer.from(text));
  } catch (error) {
    if (error instanceof FairleadError) return null;
    throw error;
  }
}
