/**
 * RFC 8785 canonical JSON: one value, one sequence of bytes.
 *
 * 1. Numbers print as ECMAScript prints them; NaN, infinities and -0 are refused rather than rewritten.
 * 2. Keys are ordered by UTF-16 code units, as `sort` does by default.
 * 3. A lone surrogate has no UTF-8 bytes and is refused.
 */
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";

const DEPTH_MAX = 64;

export const canonicalBytes = (value: Json): Buffer => Buffer.from(canonicalJson(value), "utf8");

export function canonicalJson(value: Json): string {
  return write(value, 0);
}

function write(value: Json | undefined, depth: number): string {
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === "number") return writeNumber(value);
  if (typeof value === "string") return writeString(value);
  if (depth >= DEPTH_MAX) throw refused("nested too deeply");
  if (Array.isArray(value)) return `[${Array.from(value, (item: Json) => write(item, depth + 1)).join(",")}]`;
  if (typeof value === "object")
    return writeObject(value as { readonly [key: string]: Json | undefined }, depth);
  throw refused(`a ${typeof value} is not JSON`);
}

function writeObject(value: { readonly [key: string]: Json | undefined }, depth: number): string {
  const members = Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .toSorted()
    .map((key) => `${writeString(key)}:${write(value[key], depth + 1)}`);
  return `{${members.join(",")}}`;
}

function writeNumber(value: number): string {
  if (!Number.isFinite(value)) throw refused("a number is not finite");
  if (Object.is(value, -0)) throw refused("-0 is not canonical");
  return JSON.stringify(value);
}

function writeString(value: string): string {
  if (!value.isWellFormed()) throw refused("a string holds a lone surrogate");
  return JSON.stringify(value);
}

const refused = (why: string): FairleadError =>
  new FairleadError("INVALID_INPUT", `not canonical JSON: ${why}`);
