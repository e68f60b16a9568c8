/** The nine scopes of a snapshot (SNAP-2) and who may sign each. */
import { z } from "zod";

interface ScopeEntry {
  /** Shared role data: one frame for every node, so its subject need not be the reader (SNAP-7, check 3). */
  readonly shared: boolean;
  readonly signer: "root" | "online";
}

export const SCOPES = {
  node_bootstrap: { shared: false, signer: "online" },
  node_runtime: { shared: false, signer: "online" },
  peer_directory: { shared: false, signer: "online" },
  service_assignment: { shared: false, signer: "online" },
  route_policy: { shared: false, signer: "online" },
  qos_policy: { shared: false, signer: "online" },
  trust_bundle: { shared: true, signer: "root" },
  storage_directory: { shared: false, signer: "online" },
  degraded_mode_policy: { shared: false, signer: "online" },
} as const satisfies Record<string, ScopeEntry>;

export type ScopeType = keyof typeof SCOPES;
export const ScopeType = z.enum(Object.keys(SCOPES) as [ScopeType, ...ScopeType[]]);

export const NODE_ROLES = ["core_mesh", "ingress", "egress_service", "storage_config", "thin"] as const;
export const NodeRole = z.enum(NODE_ROLES);
export type NodeRole = z.infer<typeof NodeRole>;
