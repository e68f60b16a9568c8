/**
 * Reads strings of canonical JSON.
 *
 * 1. Only printable ASCII without escapes: each of its bytes is one character and has one spelling.
 * 2. What a string may hide is looked for exactly where `findSecret` would: see `isPlain` there.
 */
import { z } from "zod";
import { secretInText } from "../find-secret.ts";
import { MISS, type Read, type Source } from "./source.ts";

const QUOTE = 0x22;
const [PRINTABLE, IN_RUN, SPECIAL, IN_HOST] = [1, 2, 4, 8];

const CLASS = new Uint8Array(256);
for (let code = 0x20; code < 0x7f; code++) {
  const character = String.fromCharCode(code);
  if (character === '"' || character === "\\") continue;
  const run = /[A-Za-z0-9+/_-]/.test(character) ? IN_RUN : 0;
  const special = /[=@$'{[\s]/.test(character) ? SPECIAL : 0;
  const host = /[A-Za-z0-9.-]/.test(character) ? IN_HOST : 0;
  CLASS[code] = PRINTABLE | run | special | host;
}
const RUN_MAX = 14;

export interface StringRules {
  /** Nearly every string has just one. */
  readonly pattern: RegExp | null;
  readonly holds: readonly ((text: string) => boolean)[];
  readonly isSearched: boolean;
}

export function stringReader({ pattern, holds, isSearched }: StringRules): Read {
  const isKnown = QUICK.get(pattern?.source ?? "");
  return (source) => {
    const { bytes } = source;
    const start = source.at + 1;
    if (bytes[source.at] !== QUOTE) return MISS;
    let at = start;
    let [run, longest, seen] = [0, 0, 0];
    for (let kind = CLASS[bytes[at]!]!; (kind & PRINTABLE) !== 0; kind = CLASS[bytes[++at]!]!) {
      seen |= kind;
      run = (kind & IN_RUN) === 0 ? 0 : run + 1;
      if (run > longest) longest = run;
    }
    if (bytes[at] !== QUOTE) return MISS; // (1)
    source.at = at + 1;
    const text = source.text.substring(start, at);
    const isMatch =
      pattern === null || (isKnown !== undefined && isKnown(bytes, start, at)) || pattern.test(text);
    if (!isMatch) return MISS;
    for (let index = 0; index < holds.length; index++) if (!holds[index]!(text)) return MISS;
    const isSuspect = longest > RUN_MAX || (seen & SPECIAL) !== 0;
    return isSearched && isSuspect && secretInText(text) !== null ? MISS : text; // (2)
  };
}

/** What is asked most often, without a regular expression; a no says nothing. */
const QUICK: ReadonlyMap<string, (bytes: Uint8Array, from: number, to: number) => boolean> = new Map([
  [String.raw`^(?:[A-Za-z0-9.-]+|\[[0-9a-f:]+\]):\d{1,5}$`, isHostAndPort],
  [z.regexes.cidrv4.source, isRange],
]);

function isHostAndPort(bytes: Uint8Array, from: number, to: number): boolean {
  let colon = to - 1;
  while (colon > from && bytes[colon]! >= 0x30 && bytes[colon]! <= 0x39) colon--;
  const digits = to - 1 - colon;
  if (bytes[colon] !== 0x3a || digits < 1 || digits > 5 || colon === from) return false;
  let host = IN_HOST;
  for (let at = from; at < colon; at++) host &= CLASS[bytes[at]!]!;
  return host !== 0;
}

/** Four octets and a length, none with a zero in front. */
function isRange(bytes: Uint8Array, from: number, to: number): boolean {
  let [part, value, digits] = [0, 0, 0];
  for (let at = from; at < to; at++) {
    const byte = bytes[at]!;
    if (byte >= 0x30 && byte <= 0x39) {
      if (digits > 0 && value === 0) return false;
      value = value * 10 + byte - 0x30;
      digits++;
    } else {
      if (byte !== (part < 3 ? 0x2e : 0x2f) || part > 3 || digits === 0 || value > 255) return false;
      [part, value, digits] = [part + 1, 0, 0];
    }
  }
  return part === 4 && digits > 0 && value <= 32;
}

const IS_HEX = new Uint8Array(256);
for (const digit of "0123456789abcdef") IS_HEX[digit.charCodeAt(0)] = 1;

/** Ids and digests have places, not patterns: `x` stands for a hexadecimal digit. None of them hides anything. */
export function shapeReader(shape: string): Read {
  const length = shape.length;
  const digits = [...shape.matchAll(/x+/g)].map(({ index, 0: run }) => ({
    from: index,
    to: index + run.length,
  }));
  const fixed = [...shape].flatMap((place, index) =>
    place === "x" ? [] : [{ index, code: place.charCodeAt(0) }],
  );
  return (source: Source) => {
    const { bytes } = source;
    const start = source.at + 1;
    if (bytes[start - 1] !== QUOTE || bytes[start + length] !== QUOTE) return MISS;
    for (let at = 0; at < fixed.length; at++)
      if (bytes[start + fixed[at]!.index] !== fixed[at]!.code) return MISS;
    let areDigits = 1;
    for (let run = 0; run < digits.length; run++) {
      const to = start + digits[run]!.to;
      for (let at = start + digits[run]!.from; at < to; at++) areDigits &= IS_HEX[bytes[at]!]!;
    }
    if (areDigits === 0) return MISS;
    source.at = start + length + 1;
    return source.text.substring(start, start + length);
  };
}

/** Named by the patterns of core/ids.ts, which say the same. */
export const SHAPES: ReadonlyMap<string, string> = new Map([
  [
    String.raw`^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`,
    "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
  ],
  ["^[0-9a-f]{64}$", "x".repeat(64)],
  ["^sha256:[0-9a-f]{64}$", `sha256:${"x".repeat(64)}`],
]);
