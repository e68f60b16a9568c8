// The role table, written out a second time by role, so that a change of it is noticed (SNAP-4).

import { expect, test } from "vitest";
import { COMPILED_SCOPES, mayHold, SECTIONS } from "../../../src/core/snapshot/roles.ts";
import type { NodeRole } from "../../../src/core/snapshot/scopes.ts";

const EVERY_ROLE = [
  "node_bootstrap.cluster",
  "node_bootstrap.membership",
  "node_bootstrap.refresh_endpoints",
  "service_assignment.assignments",
  "degraded_mode_policy.policy",
];
const PEERS = "node_bootstrap.bootstrap_peers";

const held = (roles: readonly NodeRole[]): string[] =>
  COMPILED_SCOPES.flatMap((scope) =>
    Object.keys(SECTIONS[scope])
      .filter((section) => mayHold(scope, section, roles))
      .map((section) => `${scope}.${section}`),
  ).toSorted();

test.each<[NodeRole, string[]]>([
  [
    "core_mesh",
    [
      PEERS,
      "peer_directory.peers",
      "route_policy.routes",
      "qos_policy.classes",
      "storage_directory.endpoints",
    ],
  ],
  [
    "ingress",
    [
      "node_runtime.client_entry",
      "node_runtime.token_trust",
      "node_runtime.service_endpoints",
      "route_policy.routes",
    ],
  ],
  ["egress_service", [PEERS, "node_runtime.services", "route_policy.routes"]],
  [
    "storage_config",
    [
      PEERS,
      "peer_directory.peers",
      "storage_directory.endpoints",
      "storage_directory.shards",
      "storage_directory.families",
    ],
  ],
  ["thin", [PEERS, "node_runtime.sessions"]],
])("SNAP-4: a node with the role %s holds its sections and no others", (role, own) => {
  expect(held([role])).toEqual([...EVERY_ROLE, ...own].toSorted());
});

test("SNAP-4: a node without a role holds what every role may; a section that is not in the table is denied", () => {
  expect(held([])).toEqual(EVERY_ROLE.toSorted());
  expect(mayHold("peer_directory", "toString", ["core_mesh"])).toBe(false);
});
