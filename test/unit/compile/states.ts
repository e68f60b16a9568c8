// Arbitrary models of a site: whatever rows there are, the compiler's rules hold.

import fc from "fast-check";
import type { NodeState, PeerRow, PolicyRow } from "../../../src/core/compile/rows.ts";
import { ClusterId, NodeId, ProfileId, RolloutId, Digest } from "../../../src/core/ids.ts";
import { DEGRADED_ACTIONS } from "../../../src/core/degraded/actions.ts";
import { NODE_ROLES } from "../../../src/core/snapshot/scopes.ts";

const uuid = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, "0")}`;
/** Beyond every `ids`: an organization shares its id with nothing. */
export const ORGANIZATIONS = [1, 2, 3].map((n) => uuid(0xa0000 + n));
const digest = Digest.parse(`sha256:${"ab".repeat(32)}`);

const roles = fc.subarray([...NODE_ROLES]);
const organization = fc.constantFrom(...ORGANIZATIONS);
const owner = fc.option(organization);
const ids = fc.integer({ min: 1, max: 0xffff });
const distinct = <T extends { readonly id: string }>(row: fc.Arbitrary<T>, maxLength = 8) =>
  fc.uniqueArray(row, { selector: ({ id }) => id, maxLength });

const body = (kind: PolicyRow["kind"], n: number): PolicyRow["body"] => {
  switch (kind) {
    case "route":
      return { destinations: [`10.${n % 256}.0.0/16`], via: "mesh", ttl_ms: n };
    case "qos":
      return { class: "bulk", rate_kbit_max: n };
    case "degraded_mode":
      return {
        allowed: [...DEGRADED_ACTIONS],
        offline_max_ms: n,
        route_ttl_ms: n,
        session_ttl_ms: n,
        when_partitioned: "hold",
      };
    case "client_entry":
      return { cidrs: ["192.0.2.0/24"] };
    case "token_trust":
      return { issuer: "https://id.example", jwks_digest: digest };
    case "sessions":
      return { session_ttl_ms: n, tunnels_max: 4 };
  }
};

const policy = fc
  .record({
    n: ids,
    kind: fc.constantFrom("route", "qos", "degraded_mode", "client_entry", "token_trust", "sessions"),
    organizationId: owner,
    roles,
  })
  .map(({ n, kind, ...rest }): PolicyRow => {
    return { id: uuid(n), kind, name: `policy-${n}`, ...rest, body: body(kind, n) };
  });

const peer: fc.Arbitrary<PeerRow> = fc.record({
  id: ids.map((n) => NodeId.parse(uuid(n))),
  address: fc.constantFrom("a.example:7000", "[fd00::1]:7000"),
  roles,
  organizationIds: fc.subarray(ORGANIZATIONS),
});

const service = fc.record({
  id: ids.map(uuid),
  name: ids.map((n) => `service-${n}`),
  organizationId: organization,
  chainProfileId: fc.option(fc.constant(ProfileId.parse("web"))),
  resources: fc.subarray(["resource:db", "resource:cache"]),
  connectors: fc.subarray(["vpn_connection:branch-7"]),
  secretRefs: fc.subarray(["secret://vault/db", "secret://vault/api"]),
  description: fc.option(fc.constant("the main one")),
});

const revoked = fc.subarray([
  { kind: "peer" as const, id: uuid(7) },
  { kind: "degraded_permission" as const, id: "continue_services" },
  { kind: "service_assignment" as const, id: "web" },
  { kind: "storage_endpoint" as const, id: uuid(9) },
]);

const assignment = {
  chainProfileId: ProfileId.parse("web"),
  kind: "settled" as const,
  currentFp: null,
  targetFp: digest,
  rollbackFp: null,
  intentDigest: null,
  rolloutId: RolloutId.parse(uuid(0xbb)),
};

export const anyState: fc.Arbitrary<NodeState> = fc.record({
  cluster: fc.record({
    clusterId: fc.constant(ClusterId.parse(uuid(0xcc))),
    name: fc.constant("site"),
    refreshEndpoints: fc.subarray(["https://a.example:7401", "https://b.example:7401"]),
    policies: distinct(policy, 12),
    serviceEndpoints: distinct(
      fc.record({ id: ids.map(uuid), organizationId: organization, address: fc.constant("db.example:5432") }),
    ),
    storageEndpoints: distinct(
      fc.record({
        id: ids.map(uuid),
        name: ids.map((n) => `store-${n}`),
        organizationId: owner,
        url: fc.constant("https://store.example/a"),
        shard: fc.option(fc.constantFrom("one", "two")),
        replicas: fc.integer({ min: 1, max: 5 }),
        families: fc.subarray(["route_policy", "qos_policy", "trust_bundle"] as const),
      }),
    ),
    peers: distinct(peer, 12),
  }),
  node: fc.record({
    id: ids.map((n) => NodeId.parse(uuid(n))),
    roles,
    organizationIds: fc.subarray(ORGANIZATIONS),
  }),
  services: distinct(service),
  assignments: fc.subarray([assignment]),
  revoked,
});

/** The same rows in another order. */
export function shuffled(state: NodeState, turn: number): NodeState {
  const order = <T>(rows: readonly T[]): T[] => {
    const at = rows.length === 0 ? 0 : turn % rows.length;
    return [...rows.slice(at), ...rows.slice(0, at)].toReversed();
  };
  const { cluster, node } = state;
  return {
    cluster: {
      ...cluster,
      refreshEndpoints: order(cluster.refreshEndpoints),
      policies: order(cluster.policies.map((each) => ({ ...each, roles: order(each.roles) }))),
      serviceEndpoints: order(cluster.serviceEndpoints),
      storageEndpoints: order(cluster.storageEndpoints),
      peers: order(
        cluster.peers.map((each) => ({
          ...each,
          roles: order(each.roles),
          organizationIds: order(each.organizationIds),
        })),
      ),
    },
    node: { ...node, roles: order(node.roles), organizationIds: order(node.organizationIds) },
    services: order(
      state.services.map((each) => ({
        ...each,
        resources: order(each.resources),
        secretRefs: order(each.secretRefs),
      })),
    ),
    assignments: order(state.assignments),
    revoked: order(state.revoked),
  };
}
