/** One content for each scope that the online key signs, with every section that the scope knows. */
import type { Json } from "../../src/core/json.ts";
import type { CompiledScope } from "../../src/core/snapshot/roles.ts";
import { CLUSTER, fingerprint, NODE, OTHER_NODE } from "./trust-names.ts";
import { upgrading } from "./trust.ts";

export const ORGANIZATION = "66666666-6666-4666-8666-666666666666";
export const OTHER_ORGANIZATION = "77777777-7777-4777-8777-777777777777";
const SERVICE = "88888888-8888-4888-8888-888888888888";
const POLICY = "99999999-9999-4999-8999-999999999999";

const peer = { node_id: OTHER_NODE, address: "10.0.0.2:7000", roles: ["core_mesh"] };
const owned = { organization_id: ORGANIZATION };
const named = { policy_id: POLICY, name: "plain", ...owned };

export const CONTENTS: Readonly<Record<CompiledScope, { readonly [section: string]: Json }>> = {
  node_bootstrap: {
    cluster: { cluster_id: CLUSTER, name: "site" },
    membership: { node_id: NODE, roles: ["core_mesh"], organization_ids: [ORGANIZATION] },
    refresh_endpoints: ["https://control.example:8443/"],
    bootstrap_peers: [peer],
  },
  node_runtime: {
    services: [
      {
        service_id: SERVICE,
        name: "desk",
        ...owned,
        chain_profile_id: "hello",
        resources: ["resource:db-main"],
        connectors: ["vpn_connection:branch-7"],
        secret_refs: ["secret://vault/desk/login"],
        description: "the front desk",
      },
    ],
    client_entry: [{ name: "office", ...owned, cidrs: ["10.1.0.0/16", "fd00::/8"] }],
    token_trust: [{ issuer: "https://id.example", jwks_digest: fingerprint("jwks"), ...owned }],
    service_endpoints: [{ service_id: SERVICE, ...owned, address: "[fd00::1]:443" }],
    sessions: { session_ttl_ms: 60_000, tunnels_max: 4, ...owned },
  },
  peer_directory: { peers: [peer] },
  service_assignment: { assignments: [upgrading()] },
  route_policy: { routes: [{ ...named, destinations: ["10.0.0.0/8"], via: "mesh", ttl_ms: 1000 }] },
  qos_policy: { classes: [{ ...named, class: "bulk", rate_kbit_max: null }] },
  storage_directory: {
    endpoints: [{ endpoint_id: SERVICE, name: "near", ...owned, url: "https://store.example/s" }],
    shards: [{ shard: "a", ...owned, replicas: 3 }],
    families: ["route_policy"],
  },
  degraded_mode_policy: {
    policy: {
      ...named,
      allowed: [],
      offline_max_ms: 1000,
      route_ttl_ms: 1000,
      session_ttl_ms: 1000,
      when_partitioned: "hold",
    },
  },
};
