/** One node in the words of the fleet table: the worst of its programs speaks for it. */
import {
  claimOf,
  contactOf,
  worstHealth,
  worstSync,
  type ClaimedHealth,
  type ClaimedSync,
  type Contact,
} from "../../../core/health/claim.ts";
import type { NodeView, ProgramView } from "../../../core/protocol/operator-api.ts";
import { ageText } from "../../ui/time-text.ts";
import { HEALTH_LOOKS, NODE_STATE_LOOKS, SYNC_LOOKS, type Look } from "../../ui/tones.ts";

/** Decided anew as time passes: rows that were read a minute ago are not true for ever. */
export const contactNow = (node: NodeView, now: number): Contact =>
  contactOf(
    {
      state: node.state,
      isEnrolled: node.enrolled,
      isRevoked: node.revoked_at !== null,
      heardAt: node.last_heartbeat_at === null ? null : Date.parse(node.last_heartbeat_at),
    },
    now,
  );

const claimsOf = (node: NodeView, now: number) => {
  const contact = contactNow(node, now);
  return node.programs.map((program) => claimOf(program, contact));
};

/** The node as one of its programs sees it: a rollout's page tells nothing of the neighbours. */
export const withProgramOf = (node: NodeView, profile: string): NodeView => ({
  ...node,
  programs: node.programs.filter(({ chain_profile_id }) => chain_profile_id === profile),
});

export const healthOf = (node: NodeView, now: number): ClaimedHealth =>
  worstHealth(claimsOf(node, now).map((claim) => claim.application_health));

export const syncOf = (node: NodeView, now: number): ClaimedSync =>
  worstSync(claimsOf(node, now).map((claim) => claim.sync_status));

/** A chip for what is claimed, and beside an unknown one how old the last report is. */
export interface ClaimLook {
  readonly look: Look;
  readonly note: string | undefined;
}

export const healthLook = (health: ClaimedHealth, program: ProgramView | undefined, now: number): ClaimLook =>
  claimLook(HEALTH_LOOKS[health], health, program, now);
export const syncLook = (sync: ClaimedSync, program: ProgramView | undefined, now: number): ClaimLook =>
  claimLook(SYNC_LOOKS[sync], sync, program, now);

function claimLook(look: Look, claim: string, program: ProgramView | undefined, now: number): ClaimLook {
  if (claim !== "unknown") return { look, note: undefined };
  if (program === undefined) return { look: { ...look, label: "Not reported" }, note: undefined };
  return { look, note: ageText(program.as_of, now).replace(/ ago$/, " old") };
}

export const profilesOf = ({ profiles }: NodeView): string[] =>
  profiles.map(({ chain_profile_id }) => chain_profile_id);

/** In the order of its profiles. */
export const versionsOf = ({ profiles }: NodeView): string[] =>
  profiles.map(({ binary_version }) => binary_version ?? "none");

export type Standing = NodeView["state"] | "revoked" | "pending" | "awaiting";

/** Revoked and not yet enrolled come before what the rows say about its state. */
export function standingOf(node: NodeView): Standing {
  if (node.revoked_at !== null) return "revoked";
  if (node.pending !== null) return "pending";
  return node.enrolled ? node.state : "awaiting";
}

export const STANDING_LOOKS: Record<Standing, Look> = {
  ...NODE_STATE_LOOKS,
  revoked: { tone: "neutral", icon: "dash", label: "Revoked" },
  pending: { tone: "warn", icon: "circle", label: "Waits for approval" },
  awaiting: { tone: "neutral", icon: "circle", label: "Not enrolled" },
};
