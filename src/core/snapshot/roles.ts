/**
 * Which role may see which section (SNAP-4): one table, used by the compiler before it signs and by the node before it
 * applies. What a role is not named for, it is denied; a node with several roles sees what any of them may, and one
 * with none what every role may.
 */
import { NODE_ROLES, type NodeRole, type ScopeType } from "./scopes.ts";

const EVERY: readonly NodeRole[] = NODE_ROLES;

type SectionTable = Readonly<
  Record<Exclude<ScopeType, "trust_bundle">, Readonly<Record<string, readonly NodeRole[]>>>
>;

export const SECTIONS = {
  node_bootstrap: {
    cluster: EVERY,
    membership: EVERY,
    refresh_endpoints: EVERY,
    bootstrap_peers: ["core_mesh", "egress_service", "storage_config", "thin"],
  },
  node_runtime: {
    services: ["egress_service"],
    client_entry: ["ingress"],
    token_trust: ["ingress"],
    service_endpoints: ["ingress"],
    sessions: ["thin"],
  },
  // The inner topology: never for ingress, egress or thin nodes.
  peer_directory: { peers: ["core_mesh", "storage_config"] },
  service_assignment: { assignments: EVERY },
  route_policy: { routes: ["core_mesh", "ingress", "egress_service"] },
  qos_policy: { classes: ["core_mesh"] },
  storage_directory: {
    endpoints: ["core_mesh", "storage_config"],
    shards: ["storage_config"],
    families: ["storage_config"],
  },
  degraded_mode_policy: { policy: EVERY },
} as const satisfies SectionTable;

export type CompiledScope = keyof typeof SECTIONS;
export const COMPILED_SCOPES = Object.keys(SECTIONS) as CompiledScope[];

export function mayHold(scope: ScopeType, section: string, roles: readonly NodeRole[]): boolean {
  if (scope === "trust_bundle") return true;
  const table: Readonly<Record<string, readonly NodeRole[]>> = SECTIONS[scope];
  if (!Object.hasOwn(table, section)) return false;
  return table[section] === EVERY || table[section]!.some((role) => roles.includes(role));
}

/** The scopes in which a node with these roles can hold anything at all. */
export const scopesOf = (roles: readonly NodeRole[]): CompiledScope[] =>
  COMPILED_SCOPES.filter((scope) =>
    Object.keys(SECTIONS[scope]).some((section) => mayHold(scope, section, roles)),
  );
