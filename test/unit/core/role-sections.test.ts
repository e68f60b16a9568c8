// Which sections each role holds (SNAP-4), from section 5 of the source, "Snapshot Contents by Role", role by role: the
// sentence of the source stands beside the section that carries it. Where the source names none, ADR 29 says why.

import { expect, test } from "vitest";
import { COMPILED_SCOPES, mayHold, SECTIONS } from "../../../src/core/snapshot/roles.ts";
import type { NodeRole } from "../../../src/core/snapshot/scopes.ts";

/** Identity, membership and endpoints to refresh from are in the lists of several roles, and ADR 29 gives them to all. */
const EVERY_ROLE = [
  "node_bootstrap.cluster", // "cluster identity"
  "node_bootstrap.membership", // "node membership state", "ingress role assignment"
  "node_bootstrap.refresh_endpoints", // "config/storage refresh endpoints", "route refresh endpoints"
  "service_assignment.assignments", // "assigned service workload refs"; for a node's own programs, whatever its role
  "degraded_mode_policy.policy", // "degraded-mode peer recovery policy"
];

const held = (roles: readonly NodeRole[]): string[] =>
  COMPILED_SCOPES.flatMap((scope) =>
    Object.keys(SECTIONS[scope])
      .filter((section) => mayHold(scope, section, roles))
      .map((section) => `${scope}.${section}`),
  ).toSorted();

const OWN: Readonly<Record<NodeRole, readonly string[]>> = {
  core_mesh: [
    "node_bootstrap.bootstrap_peers", // "allowed peer subset"
    "peer_directory.peers", // "allowed peer subset"
    "route_policy.routes", // "route policy subset"
    "qos_policy.classes", // "QoS policy subset"
    "storage_directory.endpoints", // "config/storage refresh endpoints"
  ],
  ingress: [
    "node_runtime.client_entry", // "client entry policy subset"
    "node_runtime.token_trust", // "token validation trust material"
    "node_runtime.service_endpoints", // "allowed service endpoint projections"
    "route_policy.routes", // "route entry policy"
  ],
  egress_service: [
    "node_runtime.services", // "assigned resource refs", "service policy subset", connector and secret resolver refs
    "route_policy.routes", // "route policy needed for assigned services"
    "node_bootstrap.bootstrap_peers", // not named by the source (ADR 29)
  ],
  storage_config: [
    "storage_directory.shards", // "assigned storage/config shard scope", "replication metadata"
    "storage_directory.families", // "allowed snapshot families"
    "storage_directory.endpoints", // "peer/storage refresh policy"
    "peer_directory.peers", // "replication metadata", "peer/storage refresh policy" (ADR 29)
    "node_bootstrap.bootstrap_peers", // "peer/storage refresh policy"
  ],
  thin: [
    "node_runtime.sessions", // "active session/tunnel policy subset"
    "node_bootstrap.bootstrap_peers", // "minimal peer/bootstrap data"
  ],
};

const ROLES = Object.keys(OWN) as NodeRole[];

test.each(ROLES)("SNAP-4: a node with the role %s holds its sections and no others", (role) => {
  expect(held([role])).toEqual([...EVERY_ROLE, ...OWN[role]].toSorted());
});

/** The lines of section 5 that begin with "no". */
test.each<[NodeRole, string, readonly string[]]>([
  [
    "ingress",
    "no full internal topology",
    ["peer_directory.peers", "node_bootstrap.bootstrap_peers", "storage_directory.endpoints"],
  ],
  ["ingress", "no service target credentials", ["node_runtime.services"]],
  ["thin", "no full cluster topology", ["peer_directory.peers", "route_policy.routes"]],
  [
    "storage_config",
    "no unrelated tenant data",
    ["node_runtime.services", "node_runtime.sessions", "node_runtime.client_entry", "route_policy.routes"],
  ],
])("SNAP-4: a node with the role %s gets “%s”", (role, _line, denied) => {
  expect(held([role]).filter((section) => denied.includes(section))).toEqual([]);
});

test("SNAP-4: a node without a role holds what every role may; a section that is not in the table is denied", () => {
  expect(held([])).toEqual(EVERY_ROLE.toSorted());
  expect(mayHold("peer_directory", "toString", ["core_mesh"])).toBe(false);
});
