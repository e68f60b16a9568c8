/** One node in the words of the fleet table: the worst of its programs speaks for it. */
import { LIMITS } from "../../../core/limits.ts";
import { APPLICATION_HEALTH, SYNC_STATUS } from "../../../core/protocol/agent-api.ts";
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { NODE_STATE_LOOKS, type HEALTH_LOOKS, type Look, type SYNC_LOOKS } from "../../ui/tones.ts";

export type Health = keyof typeof HEALTH_LOOKS;
export type Sync = keyof typeof SYNC_LOOKS;

/** Both lists in core run from best to worst. */
const worst = <T extends string>(order: readonly T[], values: readonly T[]): T | "unknown" =>
  order.findLast((value) => values.includes(value)) ?? "unknown";

export const healthOf = (node: NodeView): Health =>
  worst(
    APPLICATION_HEALTH,
    node.programs.map((program) => program.application_health),
  );

export const syncOf = (node: NodeView): Sync =>
  worst(
    SYNC_STATUS,
    node.programs.map((program) => program.sync_status),
  );

export type Standing = NodeView["state"] | "revoked" | "awaiting";

/** Revoked and not yet enrolled come before what the rows say about its state. */
export function standingOf(node: NodeView): Standing {
  if (node.revoked_at !== null) return "revoked";
  return node.enrolled ? node.state : "awaiting";
}

export const STANDING_LOOKS: Record<Standing, Look> = {
  ...NODE_STATE_LOOKS,
  revoked: { tone: "neutral", icon: "dash", label: "Revoked" },
  awaiting: { tone: "neutral", icon: "circle", label: "Not enrolled" },
};

/** Three missed beats: one may be lost on the way. */
const SILENT_MS = 3 * LIMITS.heartbeatIntervalMs;

export const isSilent = (node: NodeView, now: number): boolean =>
  node.enrolled &&
  node.revoked_at === null &&
  node.last_heartbeat_at !== null &&
  now - Date.parse(node.last_heartbeat_at) > SILENT_MS;
