/**
 * The objects that a snapshot is about, for its envelope: whoever passes it on, keeps it or looks at it can tell without
 * its content. Ids only, sorted; the trust bundle is about the cluster as a whole and names none.
 */
import type { Json } from "../json.ts";
import type { ScopeType } from "./scopes.ts";

/** A header has 8 KiB for everything. More objects than this are the scope as a whole, and none is named. */
export const SCOPE_IDS_MAX = 16;

/** Where the ids of a scope stand: section and field. */
const PLACES: Readonly<Record<ScopeType, readonly (readonly [section: string, field: string])[]>> = {
  node_bootstrap: [["membership", "node_id"]],
  node_runtime: [
    ["services", "service_id"],
    ["service_endpoints", "service_id"],
  ],
  peer_directory: [["peers", "node_id"]],
  service_assignment: [["assignments", "chain_profile_id"]],
  route_policy: [["routes", "policy_id"]],
  qos_policy: [["classes", "policy_id"]],
  trust_bundle: [],
  storage_directory: [["endpoints", "endpoint_id"]],
  degraded_mode_policy: [["policy", "policy_id"]],
};

export function scopeIdsOf(scope: ScopeType, content: Json): string[] {
  const ids = new Set<string>();
  for (const [section, field] of PLACES[scope])
    for (const item of itemsOf(fieldOf(content, section))) {
      const id = fieldOf(item, field);
      if (typeof id === "string") ids.add(id);
    }
  return ids.size > SCOPE_IDS_MAX ? [] : [...ids].toSorted();
}

const itemsOf = (value: Json | undefined): readonly Json[] =>
  value === undefined ? [] : Array.isArray(value) ? (value as readonly Json[]) : [value];

const fieldOf = (value: Json, name: string): Json | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? (value as { readonly [key: string]: Json })[name]
    : undefined;
