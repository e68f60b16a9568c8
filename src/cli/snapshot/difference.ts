/**
 * What changed between two contents, one line a value. Things with an id or a name are followed by it, so that one added
 * in front of a list does not make the whole list look changed.
 */
import type { Json } from "../../core/json.ts";
import { printable } from "../output.ts";

const IDENTITIES = [
  "policy_id",
  "service_id",
  "endpoint_id",
  "node_id",
  "chain_profile_id",
  "key_id",
  "shard",
  "name",
];

export function differenceLines(before: Json, after: Json): string[] {
  const [old, fresh] = [leavesOf(before), leavesOf(after)];
  const places = [...new Set([...old.keys(), ...fresh.keys()])].toSorted();
  return places.flatMap((place) => {
    const [gone, come] = [old.get(place), fresh.get(place)];
    if (gone === come) return [];
    const line = (sign: string, value: string | undefined) =>
      value === undefined ? [] : [printable(`${sign} ${place}: ${value}`)];
    return [...line("-", gone), ...line("+", come)];
  });
}

function leavesOf(value: Json): Map<string, string> {
  const leaves = new Map<string, string>();
  const walk = (item: Json, path: string): void => {
    const entries = entriesOf(item);
    if (entries === null || entries.length === 0) leaves.set(path || "(whole)", JSON.stringify(item));
    else for (const [name, inner] of entries) walk(inner, path === "" ? name : `${path}.${name}`);
  };
  walk(value, "");
  return leaves;
}

function entriesOf(value: Json): [string, Json][] | null {
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    const names = items.map(identityOf);
    const told = new Set(names).size === names.length && names.every((name) => name !== null);
    return items.map((item, index) => [told ? `[${names[index]}]` : `[${index}]`, item]);
  }
  if (value === null || typeof value !== "object") return null;
  return Object.entries(value).map(([key, item]) => [key, item ?? null]);
}

/** A plain word in a list stands for itself: its place says nothing. */
function identityOf(item: Json): string | null {
  if (typeof item === "string") return item;
  if (item === null || typeof item !== "object" || Array.isArray(item)) return null;
  const fields = item as { readonly [key: string]: Json | undefined };
  const field = IDENTITIES.find((key) => typeof fields[key] === "string");
  return field === undefined ? null : (fields[field] as string);
}
