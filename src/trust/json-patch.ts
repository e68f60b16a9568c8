/**
 * JSON Patch (RFC 6902) over plain JSON.
 *
 * 1. The document that goes in is never changed: what comes out is another, or an error.
 * 2. Members are own properties and nothing else: `__proto__` is a key like any other and reaches no prototype.
 * 3. An array index is a number without leading zeros within the array; `-` stands for its end, and only to add.
 * 4. Work is bounded: a patch of copies of copies would otherwise grow without end.
 */
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import type { PatchOperation } from "../core/snapshot/increment.ts";
import { clone, equal, isObject, setOwn, type JsonObject, type Mutable, type Spend } from "./json-values.ts";

/** In the units of `costOf`, and one for each place that an item moves: some times what the largest content holds. */
const WORK_MAX = 6 * LIMITS.snapshotContentBytesMax;

export function applyPatch(document: Json, operations: readonly PatchOperation[]): Json {
  let left = WORK_MAX;
  const spend: Spend = (amount) => {
    left -= amount;
    if (left < 0) throw refused("it does more than its bound"); // (4)
  };
  const holder: JsonObject = { root: clone(document, spend) }; // (1)
  for (const operation of operations) apply(holder, operation, spend);
  return holder["root"] as Json;
}

function apply(holder: JsonObject, operation: PatchOperation, spend: Spend): void {
  switch (operation.op) {
    case "add":
      return add(holder, operation.path, clone(operation.value, spend), spend);
    case "replace":
      return replace(placeOf(holder, operation.path), clone(operation.value, spend));
    case "remove":
      return remove(placeOf(holder, operation.path), spend);
    case "copy":
      return add(holder, operation.path, clone(valueAt(placeOf(holder, operation.from)), spend), spend);
    case "move":
      return move(holder, operation.from, operation.path, spend);
    case "test":
      if (equal(valueAt(placeOf(holder, operation.path)), operation.value, spend)) return;
      throw refused(`the value at ${operation.path} is another`);
  }
}

interface Place {
  readonly parent: Mutable;
  readonly key: string;
  readonly pointer: string;
}

/** The whole document is the value at `root` of a holder, so that it can be replaced like any other. */
function placeOf(holder: JsonObject, pointer: string): Place {
  const keys = ["root", ...pointer.split("/").slice(1).map(unescape)];
  let parent: Mutable = holder;
  for (const key of keys.slice(0, -1)) {
    const value = valueAt({ parent, key, pointer });
    if (!isObject(value) && !Array.isArray(value)) throw refused(`nothing is at ${pointer}`);
    parent = value;
  }
  return { parent, key: keys.at(-1)!, pointer };
}

const unescape = (token: string): string => token.replaceAll("~1", "/").replaceAll("~0", "~");

/** Invariant 3. */
function indexIn(array: readonly unknown[], { key, pointer }: Place, last: number): number {
  const index = /^(?:0|[1-9]\d{0,9})$/.test(key) ? Number(key) : -1;
  if (index >= 0 && index <= last && index <= array.length) return index;
  throw refused(`no such place in the array: ${pointer}`);
}

function valueAt(place: Place): Json {
  const { parent, key, pointer } = place;
  if (Array.isArray(parent)) return parent[indexIn(parent, place, parent.length - 1)] as Json;
  if (!Object.hasOwn(parent, key)) throw refused(`nothing is at ${pointer}`); // (2)
  return parent[key] as Json;
}

function add(holder: JsonObject, pointer: string, value: Json, spend: Spend): void {
  const place = placeOf(holder, pointer);
  const { parent, key } = place;
  if (!Array.isArray(parent)) return setOwn(parent, key, value);
  const index = key === "-" ? parent.length : indexIn(parent, place, parent.length);
  spend(parent.length - index);
  parent.splice(index, 0, value);
}

function replace(place: Place, value: Json): void {
  valueAt(place);
  if (Array.isArray(place.parent)) place.parent[Number(place.key)] = value;
  else setOwn(place.parent, place.key, value);
}

function remove(place: Place, spend: Spend): void {
  valueAt(place);
  const { parent, key } = place;
  if (!Array.isArray(parent)) return void delete parent[key];
  spend(parent.length - Number(key));
  parent.splice(Number(key), 1);
}

function move(holder: JsonObject, from: string, path: string, spend: Spend): void {
  const source = placeOf(holder, from);
  const value = valueAt(source);
  if (path === from) return;
  if (path.startsWith(`${from}/`)) throw refused(`${from} cannot move into itself`);
  remove(source, spend);
  add(holder, path, value, spend);
}

const refused = (why: string): FairleadError =>
  new FairleadError("INCREMENT_RESULT_MISMATCH", `the patch does not apply: ${why}`);
