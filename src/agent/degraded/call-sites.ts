/**
 * From where each action passes the gate. A test reads this list and the files: an action is done there and nowhere
 * else, and one with no place is nothing that an agent can do.
 */
import type { Action } from "../../core/degraded/actions.ts";

export const CALL_SITES: Readonly<Record<Action, readonly string[]>> = {
  // Starting a program anew. One that runs goes on under its shim.
  continue_services: ["src/agent/program-starter.ts"],
  // Taking a command; before fetching artifact and configs, and before stopping the program, again.
  create_service_authority: ["src/agent/authority/receive.ts", "src/agent/upgrade-runner.ts"],
  issue_certificates: ["src/agent/identity/renew.ts"],
  // Taking a node_bootstrap with other roles or organizations.
  assign_roles: ["src/agent/snapshots/check-download.ts"],
  // Taking a trust bundle with another root set.
  rotate_trust_roots: ["src/agent/snapshots/check-download.ts"],

  // Delivered over the connection only: whoever can send a report is connected.
  report_status: [],
  // The agent has no routes, no peers and no storage of its own yet.
  preserve_routes: [],
  reconnect_peers: [],
  validate_peers: [],
  use_storage_endpoints: [],
  // Nothing that an agent does.
  approve_enrollment: [],
  change_cluster_policy: [],
  change_organization_policy: [],
  promote_partition: [],
  fetch_secrets: [],
};
