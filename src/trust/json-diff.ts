/**
 * The operations that lead from one JSON value to another: applied, they give it exactly. Objects are compared member
 * by member. Of arrays, what is equal at both ends stays; between them places are replaced, and the rest is added or
 * removed, which is right for lists that are sorted and change in a few places.
 */
import type { Json } from "../core/json.ts";
import type { PatchOperation } from "../core/snapshot/increment.ts";
import { equal, hasMember, isObject, membersOf, type JsonObject } from "./json-values.ts";

export function diffJson(before: Json, after: Json): PatchOperation[] {
  const operations: PatchOperation[] = [];
  compare(before, after, "", operations);
  return operations;
}

function compare(before: Json, after: Json, path: string, out: PatchOperation[]): void {
  if (isObject(before) && isObject(after)) return compareObjects(before, after, path, out);
  if (Array.isArray(before) && Array.isArray(after))
    return compareArrays(before as readonly Json[], after as readonly Json[], path, out);
  if (!equal(before, after)) out.push({ op: "replace", path, value: after as never });
}

function compareObjects(before: JsonObject, after: JsonObject, path: string, out: PatchOperation[]): void {
  for (const key of membersOf(before)) {
    const place = `${path}/${escape(key)}`;
    if (hasMember(after, key)) compare(before[key]!, after[key]!, place, out);
    else out.push({ op: "remove", path: place });
  }
  for (const key of membersOf(after)) {
    if (!hasMember(before, key))
      out.push({ op: "add", path: `${path}/${escape(key)}`, value: after[key] as never });
  }
}

function compareArrays(
  before: readonly Json[],
  after: readonly Json[],
  path: string,
  out: PatchOperation[],
): void {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && equal(before[head]!, after[head]!)) head++;
  let tail = 0;
  while (tail < shorter - head && equal(before.at(-1 - tail)!, after.at(-1 - tail)!)) tail++;
  const paired = shorter - head - tail;
  for (let index = head; index < head + paired; index++)
    compare(before[index]!, after[index]!, `${path}/${index}`, out);
  // From the end, so that the places before it keep their number.
  for (let index = before.length - tail - 1; index >= head + paired; index--)
    out.push({ op: "remove", path: `${path}/${index}` });
  for (let index = head + paired; index < after.length - tail; index++)
    out.push({ op: "add", path: `${path}/${index}`, value: after[index] as never });
}

const escape = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");
