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

type JsonObject = { readonly [key: string]: Json | undefined };

export const canonicalBytes = (value: Json): Buffer => Buffer.from(canonicalJson(value));

/** What stands in order already, as signed content does, is printed by the engine itself. */
export const canonicalJson = (value: Json): string =>
  isInOrder(value, 0) ? JSON.stringify(value) : write(value, 0);

/** True when JSON.stringify prints just the canonical form; throws for what has none. */
function isInOrder(value: Json | undefined, depth: number): boolean {
  if (value === null || value === true || value === false) return true;
  if (typeof value === "number") return checkNumber(value);
  if (typeof value === "string") return checkString(value);
  if (typeof value !== "object") throw refused(`a ${typeof value} is not JSON`);
  if (depth >= DEPTH_MAX) throw refused("nested too deeply");
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      if (!isInOrder(value[index] as Json | undefined, depth + 1)) return false;
    return true;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  let before = "";
  for (const key of Object.keys(value)) {
    if (key < before || !checkString(key)) return false; // (2)
    const member = (value as JsonObject)[key];
    if (member === undefined || !isInOrder(member, depth + 1)) return false;
    before = key;
  }
  return true;
}

function write(value: Json | undefined, depth: number): string {
  if (typeof value === "string") return writeString(value);
  if (value === null || value === true || value === false) return String(value);
  if (typeof value === "number") return checkNumber(value) && JSON.stringify(value);
  if (typeof value !== "object") throw refused(`a ${typeof value} is not JSON`);
  if (depth >= DEPTH_MAX) throw refused("nested too deeply");
  let text = "";
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++)
      text += `${index === 0 ? "" : ","}${write(value[index] as Json | undefined, depth + 1)}`;
    return `[${text}]`;
  }
  for (const key of Object.keys(value).toSorted()) {
    const member = (value as JsonObject)[key];
    if (member === undefined) continue;
    text += `${text === "" ? "" : ","}${writeString(key)}:${write(member, depth + 1)}`;
  }
  return `{${text}}`;
}

/** Invariant 1. */
function checkNumber(value: number): true {
  if (!Number.isFinite(value)) throw refused("a number is not finite");
  if (Object.is(value, -0)) throw refused("-0 is not canonical");
  return true;
}

/** Invariant 3. */
function checkString(value: string): true {
  if (!value.isWellFormed()) throw refused("a string holds a lone surrogate");
  return true;
}

const NEEDS_CARE = /[^ !#-[\]-~]/;

function writeString(value: string): string {
  if (!NEEDS_CARE.test(value)) return `"${value}"`;
  return checkString(value) && JSON.stringify(value);
}

const refused = (why: string): FairleadError =>
  new FairleadError("INVALID_INPUT", `not canonical JSON: ${why}`);
