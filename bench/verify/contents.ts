/** Snapshots of a wanted size, as a site would sign them. */
import { createHash } from "node:crypto";
import type { Json } from "../../src/core/json.ts";
import type { CompiledScope } from "../../src/core/snapshot/roles.ts";
import type { NodeRole } from "../../src/core/snapshot/scopes.ts";
import { canonicalBytes } from "../../src/trust/canonical-json.ts";

export interface Content {
  readonly scope: CompiledScope;
  readonly role: NodeRole;
  readonly organizations: readonly string[];
  readonly value: Json;
}

const uuidOf = (name: string): string => {
  const hex = createHash("sha256").update(name).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join(
    "-",
  );
};
const ORGANIZATION = uuidOf("organization");

/** As many items as come closest to so many bytes. */
function filled(bytes: number, itemAt: (index: number) => Json): Json[] {
  const each = canonicalBytes(Array.from({ length: 64 }, (_, index) => itemAt(index))).length / 64;
  return Array.from({ length: Math.round(bytes / each) }, (_, index) => itemAt(index));
}

const addressOf = (index: number): string => `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;

/** What grows with a fleet: the peers that a node may talk to. */
export const peers = (bytes: number): Content => ({
  scope: "peer_directory",
  role: "core_mesh",
  organizations: [],
  value: {
    peers: filled(bytes, (index) => ({
      node_id: uuidOf(`node ${index}`),
      address: `${addressOf(index)}:7000`,
      roles: index % 2 === 0 ? ["core_mesh"] : ["egress_service", "thin"],
    })),
  },
});

/** What is nearly all short strings: address ranges. */
export const routes = (bytes: number): Content => ({
  scope: "route_policy",
  role: "core_mesh",
  organizations: [ORGANIZATION],
  value: {
    routes: filled(bytes, (index) => ({
      policy_id: uuidOf(`route ${index}`),
      name: `route-${index}`,
      organization_id: ORGANIZATION,
      destinations: Array.from({ length: 200 }, (_, place) => `10.${index & 255}.${place}.0/24`),
      via: "mesh",
      ttl_ms: 60_000,
    })),
  },
});
