/**
 * The one gate before everything sensitive that an agent does (SNAP-9, SNAP-10).
 *
 * 1. Closed unless a rule below opens it.
 * 2. What was revoked stays closed, connected or not.
 * 3. Without contact no `connected` action happens; with contact but without a fresh head nobody knows what was
 *    revoked, and none happens either.
 * 4. A `bounded` action goes on in degraded mode only where the signed policy names it, and only within every bound:
 *    the policy's snapshot, its time offline, its TTL and what it says of a part that is cut off.
 * 5. Starting again what last ran verified is no new authority: `continue_services` is open without a policy. A policy
 *    that does not name it forbids it. Past every bound it is still open, as a start on expired authority, unless the
 *    policy says `restart_after_expiry: never`. A policy that is damaged may have forbidden it: closed (ADR 25).
 */
import type { ErrorCode } from "../error-codes.ts";
import { unreachable } from "../errors.ts";
import type { NodeId } from "../ids.ts";
import type { DegradedBody } from "../snapshot/contents.ts";
import type { Revocation } from "../snapshot/revocation.ts";
import { ACTIONS, type Action, type DegradedAction } from "./actions.ts";

export interface Situation {
  readonly nodeId: NodeId;
  /** The control plane answered within `LIMITS.contactLostMs`. */
  readonly contact: boolean;
  /** The head that is held has not expired: what was revoked is known. */
  readonly headFresh: boolean;
  /** The last `degraded_mode_policy` that was accepted, and when its authority ends. */
  readonly policy: { readonly body: DegradedBody; readonly expiresAt: number } | "damaged" | null;
  /** Since the control plane last proved that it was there. */
  readonly offlineMs: number;
  readonly effective: number;
  /** When the accepted assignment, or the trust bundle over it, expires; null without an assignment. */
  readonly assignedUntil: number | null;
  /** From the newest head that was accepted. */
  readonly revoked: readonly Revocation[];
  /** The control plane answered that this node is revoked, and no head has said otherwise since. */
  readonly refusedByControlPlane: boolean;
  /** Whoever answers here has lost its own authority: this part of the fleet is cut off. */
  readonly partitioned: boolean;
}

export type Gate =
  /** `expiredSince`: open for bytes that ran before, on authority that expired then. */
  | { readonly kind: "open"; readonly expiredSince?: number }
  | { readonly kind: "closed"; readonly code: ErrorCode; readonly reason: string };

const OPEN: Gate = { kind: "open" };
const closed = (code: ErrorCode, reason: string): Gate => ({ kind: "closed", code, reason });
const POLICY_DAMAGED = "the degraded_mode_policy that was accepted is damaged on this disk";
const refuse = (reason: string): Gate => closed("DEGRADED_NOT_ALLOWED", reason);

/** `concerning`: the service, artifact, run, role, peer or endpoint that the action is about. */
export function gate(action: Action, situation: Situation, ...concerning: readonly Revocation[]): Gate {
  const revocation = revokedFor(situation, concerning);
  if (revocation !== null) return closed("AUTHORITY_REVOKED", revocation); // (2)
  const { contact, headFresh } = situation;
  if (contact && headFresh) return OPEN;
  const kind = ACTIONS[action];
  switch (kind) {
    case "connected":
      return whileAlone(action, situation);
    case "bounded":
      return whileDegraded(action as DegradedAction, situation);
    default:
      return unreachable(kind); // (1)
  }
}

function revokedFor(
  { nodeId, revoked, refusedByControlPlane }: Situation,
  concerning: readonly Revocation[],
): string | null {
  if (refusedByControlPlane) return "this node is revoked (control-plane status)";
  const isRevoked = (what: Revocation) =>
    revoked.some(({ kind, id }) => kind === what.kind && id === what.id);
  if (isRevoked({ kind: "node_identity", id: nodeId })) return "this node is revoked (signed head)";
  const taken = concerning.find(isRevoked);
  return taken === undefined ? null : `${taken.kind} ${taken.id} is revoked (signed head)`;
}

/** Root keys prove themselves, and a head may be readable only with the keys that the new bundle brings. */
const NEEDS_NO_HEAD: readonly Action[] = ["rotate_trust_roots"];

function whileAlone(action: Action, { contact }: Situation): Gate {
  if (!contact) return closed("DEGRADED_FORBIDDEN", `${action} is never done without the control plane`); // (3)
  if (NEEDS_NO_HEAD.includes(action)) return OPEN;
  return closed("HEAD_STALE", `${action} needs a fresh head: what was revoked is not known`); // (3)
}

function whileDegraded(action: DegradedAction, situation: Situation): Gate {
  const { policy, revoked, partitioned, effective, offlineMs } = situation;
  if (revoked.some(({ kind, id }) => kind === "degraded_permission" && id === action))
    return closed("AUTHORITY_REVOKED", `the permission for ${action} is revoked (signed head)`);
  if (action === "continue_services") return whileRestarting(situation);
  if (policy === null) return refuse("no degraded_mode_policy is in force");
  if (policy === "damaged") return refuse(POLICY_DAMAGED);
  const { body, expiresAt } = policy;
  if (!body.allowed.includes(action)) return refuse(`the degraded_mode_policy does not name ${action}`);
  if (partitioned && body.when_partitioned === "hold")
    return refuse("the degraded_mode_policy holds a part that is cut off");
  if (expiresAt <= effective) return closed("DEGRADED_TIME_OVER", "the degraded_mode_policy has expired");
  const bound = boundOf(action, body);
  if (offlineMs > bound) return closed("DEGRADED_TIME_OVER", `offline for more than ${bound} ms`);
  return OPEN; // (4)
}

/** (5) */
function whileRestarting(situation: Situation): Gate {
  const { policy, partitioned, effective, offlineMs, assignedUntil } = situation;
  if (policy === "damaged") return refuse(POLICY_DAMAGED);
  const ends = assignedUntil === null ? [] : [assignedUntil];
  if (policy !== null) {
    const { body, expiresAt } = policy;
    if (!body.allowed.includes("continue_services"))
      return refuse("the degraded_mode_policy does not name continue_services");
    if (partitioned && body.when_partitioned === "hold")
      return refuse("the degraded_mode_policy holds a part that is cut off");
    ends.push(expiresAt, Math.max(0, effective - offlineMs + body.offline_max_ms));
  }
  const expiredSince = Math.min(...ends);
  if (expiredSince > effective) return OPEN;
  if (policy?.body.restart_after_expiry === "never")
    return closed("DEGRADED_TIME_OVER", "the degraded_mode_policy forbids a restart on expired authority");
  return { kind: "open", expiredSince };
}

function boundOf(action: DegradedAction, body: DegradedBody): number {
  const { offline_max_ms, route_ttl_ms, session_ttl_ms } = body;
  switch (action) {
    case "preserve_routes":
      return Math.min(offline_max_ms, route_ttl_ms);
    case "reconnect_peers":
    case "validate_peers":
      return Math.min(offline_max_ms, session_ttl_ms);
    case "continue_services":
    case "use_storage_endpoints":
    case "report_status":
      return offline_max_ms;
    default:
      return unreachable(action);
  }
}
