/** Plain JSON that is being built: copies, comparison, members. `__proto__` is a key like any other. */
import type { Json } from "../core/json.ts";

export type JsonObject = { [key: string]: Json };
export type Mutable = JsonObject | Json[];
/** Called with how much is about to be done; throws when that is too much. */
export type Spend = (amount: number) => void;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** A member that is undefined is none: it does not reach the bytes either. */
export const hasMember = (object: JsonObject, key: string): boolean =>
  Object.hasOwn(object, key) && object[key] !== undefined;

export const membersOf = (object: JsonObject): string[] =>
  Object.keys(object).filter((key) => hasMember(object, key));

/** An assignment to `__proto__` would set the prototype instead. */
export function setOwn(object: JsonObject, key: string, value: Json): void {
  if (key !== "__proto__") object[key] = value;
  else Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

/** About the bytes that a value takes, without what is in it. */
function costOf(value: Json): number {
  if (typeof value === "string") return 2 + value.length;
  return typeof value === "object" && value !== null ? 16 : 2;
}

export function clone(value: Json, spend: Spend): Json {
  spend(costOf(value));
  if (Array.isArray(value)) return value.map((item: Json) => clone(item, spend));
  if (!isObject(value)) return value;
  const copy: JsonObject = {};
  for (const key of membersOf(value)) {
    spend(key.length);
    setOwn(copy, key, clone(value[key]!, spend));
  }
  return copy;
}

export function equal(left: Json, right: Json, spend: Spend = () => {}): boolean {
  spend(costOf(left));
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item: Json, index) => equal(item, right[index] as Json, spend));
  }
  if (!isObject(left)) return left === right;
  if (!isObject(right)) return false;
  const keys = membersOf(left);
  if (keys.length !== membersOf(right).length) return false;
  return keys.every((key) => hasMember(right, key) && equal(left[key]!, right[key]!, spend));
}
