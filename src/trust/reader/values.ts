/** Reads objects, lists, words and numbers of canonical JSON out of the readers of their parts. */
import type { Json } from "../../core/json.ts";
import { secretInText } from "../find-secret.ts";
import { bytesOf, MISS, take, type Read, type Source } from "./source.ts";

export interface Field {
  readonly key: string;
  readonly isOptional: boolean;
  readonly read: Read;
}

/** Canonical members stand in order, so it is known at each place which may come. */
export function objectReader(unordered: readonly Field[]): Read {
  const fields = unordered
    .toSorted((left, right) => (left.key < right.key ? -1 : 1))
    .map((field) => ({
      ...field,
      isOwner: field.key === "organization_id",
      first: bytesOf(`"${field.key}":`),
      next: bytesOf(`,"${field.key}":`),
    }));
  return (source) => {
    if (source.bytes[source.at++] !== 0x7b) return MISS;
    const members: { [key: string]: Json } = {};
    let isFirst = true;
    for (let index = 0; index < fields.length; index++) {
      const field = fields[index]!;
      if (take(source, isFirst ? field.first : field.next)) {
        const value = field.read(source);
        if (value === MISS) return MISS;
        if (field.isOwner && typeof value === "string") source.organizations.add(value);
        members[field.key] = value;
        isFirst = false;
      } else if (!field.isOptional) return MISS;
    }
    return source.bytes[source.at++] === 0x7d ? members : MISS;
  };
}

export function listReader(read: Read, least: number, most: number): Read {
  return (source) => {
    const { bytes } = source;
    if (bytes[source.at++] !== 0x5b) return MISS;
    let items: Json[] = [];
    if (bytes[source.at] === 0x5d) source.at++;
    else {
      for (let byte: number | undefined = 0x2c; byte !== 0x5d; byte = bytes[source.at++]) {
        const item = byte === 0x2c && items.length < most ? read(source) : MISS;
        if (item === MISS) return MISS;
        // Most lists are short: one that is pushed to keeps room for seventeen.
        if (items.length === 0) items = [item];
        else if (items.length === 1) items = [items[0]!, item];
        else if (items.length === 2) items = [items[0]!, items[1]!, item];
        else items.push(item);
      }
    }
    return items.length < least ? MISS : items;
  };
}

/** One of these very words, in their order. */
export function wordReader(words: readonly unknown[]): Read | null {
  const isPlain = (word: unknown) =>
    word === null ||
    typeof word === "boolean" ||
    (typeof word === "string" && /^[\w-]*$/.test(word) && secretInText(word) === null);
  if (!words.every(isPlain)) return null;
  const spelled = words.map((word) => ({ word: word as Json, bytes: bytesOf(JSON.stringify(word)) }));
  return (source) => {
    for (let index = 0; index < spelled.length; index++)
      if (take(source, spelled[index]!.bytes)) return spelled[index]!.word;
    return MISS;
  };
}

/** Whichever of them comes first. */
export function choiceReader(options: readonly (Read | null)[]): Read | null {
  if (options.includes(null)) return null;
  return (source) => {
    const { at } = source;
    for (let index = 0; index < options.length; index++) {
      source.at = at;
      const value = options[index]!(source);
      if (value !== MISS) return value;
    }
    return MISS;
  };
}

/** No sign, no leading zero, and exact: what is more than 15 digits long is left to others. */
export function readInteger(source: Source): number | typeof MISS {
  const { bytes } = source;
  const start = source.at;
  let value = 0;
  let at = start;
  for (let digit = bytes[at]! - 0x30; digit >= 0 && digit <= 9; digit = bytes[++at]! - 0x30)
    value = value * 10 + digit;
  const length = at - start;
  if (length === 0 || length > 15 || (length > 1 && bytes[start] === 0x30)) return MISS;
  source.at = at;
  return value;
}
