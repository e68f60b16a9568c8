/** What the operators' API answers, as schemas: OpenAPI, the CLI and the console are made from these. */
import { z } from "zod";
import {
  ClusterId,
  Digest,
  Instant,
  KeyId,
  Name,
  NodeId,
  ProfileId,
  RolloutId,
  UpgradeId,
  Uuid,
  Version,
} from "../ids.ts";
import { CLAIMED_HEALTH, CLAIMED_SYNC, CONTACTS } from "../health/claim.ts";
import { PROFILE_STATES } from "../health/evaluate.ts";
import { LIMITS } from "../limits.ts";
import { MigrationType, Runtime } from "../manifest/schema.ts";
import { MaxUnavailable } from "../rollout/create.ts";
import { NodeUpgradeStatus, RolloutStatus, Strategy } from "../rollout/states.ts";
import { NodeName } from "../model/node-name.ts";
import { NodeRole } from "../snapshot/scopes.ts";
import { TrustBundle } from "../snapshot/trust-bundle.ts";
import { Direction } from "../upgrade/job.ts";
import { UpgradePhase } from "../upgrade/phases.ts";
import { AppliedVersions, NODE_STATES, ProgramReport, Rejection } from "./agent-api.ts";
import { SignedIntent } from "./intent.ts";

export const ErrorResponse = z.object({
  error: z.object({
    code: z.string(),
    message: z.string(),
    next: z.string(),
    detail: z.record(z.string(), z.unknown()).optional(),
    request_id: z.string(),
  }),
});
export type ErrorResponse = z.infer<typeof ErrorResponse>;

export const WhyView = z.object({ code: z.string(), text: z.string() });

// Sign-in
export const TokenRequest = z.strictObject({ api_key: z.string().min(10).max(200) });
export const TokenResponse = z.object({ token: z.string(), expires_at: Instant });
export const SignInLinkResponse = z.object({ url: z.string(), expires_at: Instant });
export const SessionRequest = z.strictObject({ code: z.string().min(10).max(200) });
export const WhoAmI = z.object({
  user: z.string(),
  scopes: z.array(z.string()),
  cluster_id: ClusterId,
  /** False: the weaker mode, in which the control plane alone decides. The console says so. */
  intents_required: z.boolean(),
});

// First run and trust
export const BootstrapRequest = z.strictObject({ first_run_secret: z.string().min(10).max(200) });
export const BootstrapResponse = z.object({
  cluster_id: ClusterId,
  online_key: z.object({ key_id: KeyId, algorithm: z.literal("Ed25519"), public_key: z.string() }),
  ca_pin: z.string(),
  enroll_url: z.string(),
});
export const InitializeRequest = z.strictObject({
  first_run_secret: z.string().min(10).max(200),
  trust_bundle: z.base64(),
});
export const InitializeResponse = z.object({ api_key: z.string() });
export const TrustView = z.object({
  cluster_id: ClusterId,
  version: z.int(),
  bundle: TrustBundle,
  ca_pin: z.string(),
  root_pin: z.string(),
  enroll_url: z.string(),
});
export type TrustView = z.infer<typeof TrustView>;

// Nodes
export const EnrollmentTokenRequest = z.strictObject({
  name: NodeName,
  /** The programs that run there; others can be added later. */
  chain_profile_ids: z
    .array(ProfileId)
    .min(1)
    .max(LIMITS.nodeProfilesMax)
    .refine((ids) => new Set(ids).size === ids.length, "a profile is named once"),
  node_type: Name,
  labels: z.record(z.string().max(63), z.string().max(63)).default({}),
  roles: z.array(NodeRole).default(["egress_service"]),
  expires_in_seconds: z
    .int()
    .min(1)
    .max(30 * 24 * 3600)
    .default(24 * 3600),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
/** The CLI composes the token around the secret with pins that it knows itself. */
export const EnrollmentTokenResponse = z.object({
  node_id: NodeId,
  secret: z.string(),
  expires_at: Instant,
});

/** A program as its node last reported it. Every field is as of `as_of`; health and sync are claimed only while that is now. */
export const ProgramView = z.object({
  ...ProgramReport.shape,
  application_health: z.enum(CLAIMED_HEALTH),
  sync_status: z.enum(CLAIMED_SYNC),
  as_of: Instant,
  last_reported: ProgramReport.pick({ application_health: true, sync_status: true }),
});
export type ProgramView = z.infer<typeof ProgramView>;
/** One program of a node: its state apart from the node's silence, and the version that is recorded. */
export const NodeProfileView = z.object({
  chain_profile_id: ProfileId,
  state: z.enum(PROFILE_STATES),
  binary_version: z.string().nullable(),
});
export type NodeProfileView = z.infer<typeof NodeProfileView>;

export const ProfileAddRequest = z.strictObject({
  chain_profile_id: ProfileId,
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
export const ProfileRemoveRequest = ProfileAddRequest.pick({ reason: true });

/** An agent that speaks in a node's name, where more than one does. */
const SpeakingAgentView = z.object({
  id: Uuid,
  host: z.string(),
  address: z.string().nullable(),
  started_at: Instant,
  heard_at: Instant.nullable(),
});

/** A machine that asked with an enrollment key and waits for an approval. */
const PendingView = z.object({
  since: Instant,
  /** The key of the machine, as its agent prints it: compare before you approve. */
  key_id: z.string(),
  host: z.string(),
  address: z.string(),
  enrollment_key: z.string(),
});

export const NodeView = z.object({
  id: NodeId,
  name: z.string(),
  /** The worst of its profiles' states; `down` and late heartbeats are the node's own. */
  state: z.enum(NODE_STATES),
  /** Whether the node is heard from. Unless it is `current`, everything that the node reported is of the past. */
  contact: z.enum(CONTACTS),
  /** By name. */
  profiles: z.array(NodeProfileView),
  node_type: z.string(),
  roles: z.array(NodeRole),
  labels: z.record(z.string(), z.string()),
  enrolled: z.boolean(),
  /** Its machine waits for an operator's approval. */
  pending: PendingView.nullable().default(null),
  revoked_at: Instant.nullable(),
  /** The revoked node whose name this one took over, and the node that took over this one's (SNAP-20). */
  replaces: NodeId.nullable().default(null),
  replaced_by: NodeId.nullable().default(null),
  /** Two machines use this node's key: the agents that spoke in its name, newest first. Empty: one machine. */
  copies: z.array(SpeakingAgentView).default([]),
  last_heartbeat_at: Instant.nullable(),
  agent_version: z.string().nullable(),
  programs: z.array(ProgramView),
  applied: AppliedVersions,
  last_rejection: Rejection.nullable(),
  certificate_expires_at: Instant.nullable(),
});
export type NodeView = z.infer<typeof NodeView>;
/** What a node runs after a person mended it by hand, recorded as it is. */
export const NodeAdopt = z.strictObject({
  /** Needed where the node has several. */
  chain_profile_id: ProfileId.optional(),
  /** Needed where the site has never rolled these bytes out. */
  version: Version.optional(),
  reason: z.string().min(1).max(LIMITS.reasonCharsMax),
});
export type NodeAdopt = z.infer<typeof NodeAdopt>;

export const NodeAdopted = z.object({
  node_id: NodeId,
  chain_profile_id: ProfileId,
  /** Null: nothing was recorded. */
  before: z.object({ binary_version: z.string().nullable(), fingerprint: Digest.nullable() }).nullable(),
  after: z.object({ binary_version: z.string(), fingerprint: Digest }),
});
export type NodeAdopted = z.infer<typeof NodeAdopted>;

export const NodeList = z.object({ nodes: z.array(NodeView), next_cursor: z.string().nullable() });

// Rollouts
const Counters = z.object({
  total: z.int(),
  pending: z.int(),
  in_progress: z.int(),
  succeeded: z.int(),
  failed: z.int(),
  rolled_back: z.int(),
  failed_rollback: z.int(),
  skipped: z.int(),
});

export const RolloutView = z.object({
  id: RolloutId,
  /** The group that drives it as a component, and its place there; null for a rollout of its own. */
  group_id: Uuid.nullable(),
  component_index: z.int().nullable(),
  chain_profile_id: ProfileId,
  node_type: z.string(),
  node_labels: z.record(z.string(), z.string()),
  upgrade_id: UpgradeId.nullable(),
  runtime: Runtime,
  binary_name: z.string(),
  source_version: z.string(),
  target_version: z.string(),
  target_binary_url: z.string(),
  target_binary_checksum: Digest,
  manifest_content_hash: Digest,
  migration_type: MigrationType,
  rollback_tier: z.int(),
  strategy: Strategy,
  canary_size: z.int(),
  /** The failure threshold is not looked at any more. */
  force_continue: z.boolean(),
  skip_validation: z.boolean(),
  max_unavailable: z.object(MaxUnavailable.shape).nullable(),
  batch_size: z.int(),
  batch_count: z.int(),
  current_batch: z.int(),
  failure_threshold: z.number(),
  health_wait_seconds: z.number(),
  health_until: Instant.nullable(),
  status: RolloutStatus,
  pause_requested: z.boolean(),
  cancel_requested: z.boolean(),
  rollback_requested: z.boolean(),
  /** The signed intent allows the way back. */
  rollback_allowed: z.boolean(),
  canary_approved_by: z.string().nullable(),
  canary_approved_at: Instant.nullable(),
  /** For every state that waits, stopped or failed: what and what to do. */
  why: WhyView.nullable(),
  counters: Counters,
  /** Nodes at work that have not been heard of for 30 seconds. */
  silent_nodes: z.int(),
  /** `voided`: an empty intent with a higher serial outdates it. */
  intent: z.object({ digest: Digest, not_after: Instant, serial: z.int(), voided: z.boolean() }).nullable(),
  created_by: z.string(),
  created_at: Instant,
  started_at: Instant.nullable(),
  ended_at: Instant.nullable(),
});
export type RolloutView = z.infer<typeof RolloutView>;
export const RolloutList = z.object({
  rollouts: z.array(RolloutView),
  next_cursor: z.string().nullable(),
});

export const NodeUpgradeView = z.object({
  node_id: NodeId,
  node_name: z.string(),
  batch_index: z.int(),
  status: NodeUpgradeStatus,
  upgrade_phase: UpgradePhase.nullable(),
  action_index: z.int().nullable(),
  action_name: z.string().nullable(),
  progress_pct: z.int(),
  /** The profile whose job on the node comes first. */
  waiting_for: ProfileId.nullable(),
  direction: Direction,
  attempt_count: z.int(),
  previous_version: z.string().nullable(),
  previous_checksum: z.string().nullable(),
  error_code: z.string().nullable(),
  error_message: z.string().nullable(),
  /** Failed, and waits for the turn of its batch to be tried again. */
  retry_requested: z.boolean(),
  /** At work, and not heard of since then. */
  silent_since: Instant.nullable(),
  started_at: Instant.nullable(),
  ended_at: Instant.nullable(),
});
export type NodeUpgradeView = z.infer<typeof NodeUpgradeView>;
export const NodeUpgradeList = z.object({
  nodes: z.array(NodeUpgradeView),
  next_cursor: z.string().nullable(),
});

export const SignalRequest = z.strictObject({
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
  /**
   * With resume, rollback, retry or approve_canary: a new intent for the same wish, after the window of the first
   * has closed. With cancel: an empty intent, which makes every node refuse what was signed before.
   */
  intent: SignedIntent.optional(),
});
export type SignalRequest = z.infer<typeof SignalRequest>;

export const EventView = z.object({
  id: z.int(),
  at: Instant,
  kind: z.string(),
  rollout_id: RolloutId.nullable(),
  /** Of a group itself and of its components. */
  group_id: Uuid.nullable(),
  node_id: NodeId.nullable(),
  actor: z.string().nullable(),
  data: z.record(z.string(), z.unknown()),
});
export type EventView = z.infer<typeof EventView>;
export const EventList = z.object({ events: z.array(EventView), next_cursor: z.string().nullable() });
