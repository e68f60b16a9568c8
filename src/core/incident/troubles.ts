/** Trouble outside upgrades, as incidents tell it: what happened, why, and what to do. */
import { nextOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import type { NodeId, ProfileId } from "../ids.ts";
import type { Rejection } from "../protocol/agent-api.ts";
import type { Severity } from "./states.ts";
import type { Trouble } from "./watch.ts";

interface TroubledNode {
  readonly nodeId: NodeId;
  readonly name: string;
}

const ofNode = ({ nodeId, name }: TroubledNode) => ({ nodeId, name, subject: "" });
const iso = (at: number): string => new Date(at).toISOString();
/** Without milliseconds, for a title that a pager reads. */
const shortIso = (at: number): string => iso(at).replace(/\.\d+Z$/, "Z");

/** `heardAt`: null for a node that has never been heard from since it enrolled. */
export const nodeDown = (node: TroubledNode, heardAt: number | null): Trouble => ({
  ...ofNode(node),
  category: "node_down",
  severity: "critical",
  title: `${node.name} is down: ${heardAt === null ? "never heard from" : `no heartbeat since ${shortIso(heardAt)}`}`,
  detail: { last_heartbeat_at: heardAt === null ? null : iso(heardAt) },
  recoveryPlan:
    "Look at the machine, at its connection to the control plane, and at the agent's log. " +
    "The incident resolves by itself when the node has been heard from for a while. " +
    `A machine that is gone for good: fairlead node revoke ${node.name}`,
});

export const crashLoop = (node: TroubledNode, profile: ProfileId, restarts: number): Trouble => ({
  ...ofNode(node),
  category: "crash_loop",
  severity: "critical",
  subject: profile,
  title: `${node.name}: ${profile} restarted ${restarts} times within ${LIMITS.crashLoopWindowMs / 60_000} min`,
  detail: { chain_profile_id: profile, restarts },
  recoveryPlan:
    `See the program's log on the machine, and what runs there: fairlead node show ${node.name}. ` +
    "The incident resolves by itself when the program has run for a while without a restart.",
});

/**
 * Codes of a refused snapshot or head. Critical: nobody but a forger, a thief or a broken database makes it. The node
 * helps itself with the codes that are not listed: it asks for a full snapshot.
 */
const REJECTION_SEVERITIES: Readonly<Record<string, Severity>> = {
  SNAPSHOT_MALFORMED: "critical",
  SNAPSHOT_WRONG_CLUSTER: "critical",
  SNAPSHOT_WRONG_NODE: "critical",
  SNAPSHOT_KEY_UNTRUSTED: "critical",
  SNAPSHOT_SIGNATURE_INVALID: "critical",
  SNAPSHOT_HASH_MISMATCH: "critical",
  SNAPSHOT_EPOCH_STALE: "critical",
  SNAPSHOT_EPOCH_UNKNOWN: "critical",
  SNAPSHOT_ROLLBACK: "critical",
  SNAPSHOT_ORGANIZATION_FOREIGN: "critical",
  HEAD_REFUSED: "critical",
  HEAD_ROLLBACK: "critical",
  SNAPSHOT_SECRET_FOUND: "warning",
  SNAPSHOT_SCHEMA_UNSUPPORTED: "warning",
  SNAPSHOT_TIME_REFUSED: "warning",
  SNAPSHOT_SCOPE_EXCEEDED: "warning",
  SNAPSHOT_CONTENT_INVALID: "warning",
  SNAPSHOT_TOO_LARGE: "warning",
  SNAPSHOT_HELD_BACK: "warning",
  REVOCATION_PAGE_MISSING: "warning",
};
export const REJECTION_CODES: readonly string[] = Object.keys(REJECTION_SEVERITIES);

export const snapshotRejected = (node: TroubledNode, rejection: Rejection): Trouble => ({
  ...ofNode(node),
  category: "snapshot_rejected",
  severity: REJECTION_SEVERITIES[rejection.code] ?? "warning",
  title: `${node.name} refuses ${rejection.subject}: ${rejection.code}`,
  detail: { code: rejection.code, reason: rejection.reason, refused_at: rejection.at },
  recoveryPlan:
    `${nextOf(rejection.code, "node") ?? ""} Details: fairlead snapshot explain ${node.name}`.trim(),
});

/** Near the end, and past it, are two incidents: the second one is worse, and tells again. */
function ending(what: string, endsAt: number, now: number) {
  const isOver = endsAt <= now;
  return {
    severity: isOver ? "critical" : "warning",
    title: `${what} ${isOver ? "ended" : "ends"} ${shortIso(endsAt)}`,
    detail: { ends_at: iso(endsAt) },
    stage: isOver ? "ended" : "ending",
  } as const;
}

export function nodeCertificateEnding(node: TroubledNode, endsAt: number, now: number): Trouble {
  const { stage, ...told } = ending(`the certificate of ${node.name}`, endsAt, now);
  return {
    ...ofNode(node),
    ...told,
    category: "certificate_expiring",
    subject: stage,
    recoveryPlan:
      stage === "ended"
        ? `The agent renews it by itself when it connects until ${iso(endsAt + LIMITS.nodeCertificateGraceMs)}: look at the machine, ` +
          "at its connection to the enrollment address, and at the agent's log. After that, revoke the node with " +
          `fairlead node revoke ${node.name}, make a token with fairlead node token --name ${node.name}, and enroll it again.`
        : "The agent renews it by itself while it is connected and did not: see the agent's log and its connection.",
  };
}

/** A certificate of the site or of one server: `subject` tells them apart. */
export function certificateEnding(subject: string, endsAt: number, now: number): Trouble {
  const { stage, ...told } = ending(subject, endsAt, now);
  return {
    ...told,
    category: "certificate_expiring",
    nodeId: null,
    subject: `${subject} ${stage}`,
    name: subject,
    recoveryPlan: "Put a new certificate in its place, and restart the servers that read it.",
  };
}

/** A key of the trust bundle, or the bundle itself. */
export function keyEnding(subject: string, endsAt: number, now: number): Trouble {
  const { stage, ...told } = ending(subject, endsAt, now);
  return {
    ...told,
    category: "key_expiring",
    nodeId: null,
    subject: `${subject} ${stage}`,
    name: subject,
    recoveryPlan:
      "See fairlead keys list. A trust bundle gets a new end with fairlead root renew; a key is replaced with " +
      "fairlead keys introduce, and its successor is promoted when every node has confirmed it.",
  };
}
