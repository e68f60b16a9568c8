/**
 * Everything sensitive that an agent does has a name here, and passes one gate (SNAP-9).
 * `bounded`: goes on while nobody answers, if the signed policy says so. `connected`: never without the control plane.
 */
import { z } from "zod";

export const ACTIONS = {
  continue_services: "bounded",
  preserve_routes: "bounded",
  reconnect_peers: "bounded",
  validate_peers: "bounded",
  use_storage_endpoints: "bounded",
  report_status: "bounded",

  approve_enrollment: "connected",
  issue_certificates: "connected",
  assign_roles: "connected",
  change_cluster_policy: "connected",
  change_organization_policy: "connected",
  rotate_trust_roots: "connected",
  promote_partition: "connected",
  fetch_secrets: "connected",
  create_service_authority: "connected",
} as const satisfies Record<string, "bounded" | "connected">;

export type Action = keyof typeof ACTIONS;
type Named<Kind> = { [A in Action]: (typeof ACTIONS)[A] extends Kind ? A : never }[Action];
export type DegradedAction = Named<"bounded">;

const named = <Kind extends "bounded" | "connected">(kind: Kind) =>
  Object.entries(ACTIONS)
    .filter(([, each]) => each === kind)
    .map(([action]) => action) as [Named<Kind>, ...Named<Kind>[]];

/** What an agent does alone by now: the others have a name and no place where they are done. */
export const ACTED_ON: readonly DegradedAction[] = ["continue_services"];

export const DEGRADED_ACTIONS = named("bounded");
export const CONNECTED_ACTIONS = named("connected");
export const DegradedAction = z.enum(DEGRADED_ACTIONS);
