/**
 * What agent and server say to each other. Bytes that are signed travel as base64 frames and are verified whole.
 *
 * 1. Every field that a node sends has a bound and a type that PostgreSQL and JSON can hold: text is `LongText`, time is
 *    `Instant`, a number has a minimum and a maximum. test/tidy/agent-messages.test.ts walks these schemas.
 * 2. Readers ignore keys that they do not know: agent and server are upgraded one after the other. Writers send nothing
 *    that the other side does not read (`agent-protocol.ts`).
 */
import { z } from "zod";
import { ClusterId, CommandId, Digest, Instant, NodeId, ProfileId, Uuid, Version } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { SnapshotVersion } from "../snapshot/envelope.ts";
import { NodeRole, ScopeType } from "../snapshot/scopes.ts";
import { LongText } from "../text.ts";
import { AgentVerdict, UpgradeProgress } from "../upgrade/phases.ts";
import { Capabilities, Protocol } from "./agent-protocol.ts";
import { MerkleProof } from "./intent.ts";

const FrameBase64 = z.string().max(8 * 1024 * 1024);

export const EnrollRequest = z.object({
  secret: LongText(200).min(16),
  csr: LongText(8192),
  /** The machine's host name. */
  name: LongText(253),
  /** A digest of the machine's own id: the same machine says the same to this site, and nothing of it to others. */
  machine_id: LongText(64)
    .regex(/^[0-9a-f]{32}$/)
    .optional(),
});
export type EnrollRequest = z.infer<typeof EnrollRequest>;

export const EnrollResponse = z.object({
  node_id: NodeId,
  cluster_id: ClusterId,
  certificate_chain: z.string(),
  ca: z.string(),
  agent_url: z.url(),
  roles: z.array(NodeRole),
  trust_bundle: FrameBase64,
});
export type EnrollResponse = z.infer<typeof EnrollResponse>;

/** With HTTP 202: an operator has to approve the node first. The same key asks again. */
export const EnrollPending = z.object({ pending: z.object({ node_id: NodeId, name: z.string() }) });
export type EnrollPending = z.infer<typeof EnrollPending>;

export const RenewRequest = z.object({ csr: LongText(8192) });
/** Before the bytes of the new signing request, under the proof of a certificate that is out of its time. */
export const RENEWAL_PROOF_DOMAIN = "fairlead/renewal/v1\n";

/** For a node whose certificate has expired, or was dated by a clock that was ahead: TLS lets it in nowhere else. */
export const RenewByProofRequest = z.object({
  csr: LongText(8192),
  certificate: LongText(8192),
  /** Over domain and request, by the certificate's key. */
  proof: z.base64().max(1024),
});
export type RenewByProofRequest = z.infer<typeof RenewByProofRequest>;

export const RenewResponse = z.object({ certificate_chain: z.string() });

export const AppliedVersions = z.partialRecord(ScopeType, SnapshotVersion);
export type AppliedVersions = z.infer<typeof AppliedVersions>;

export const PollRequest = z.object({
  have: AppliedVersions,
  /** Highest command sequence that the agent holds durably. */
  command_mark: z.int().min(0).max(Number.MAX_SAFE_INTEGER),
  /** The highest intent serial seen per profile: what outdates it is still to be delivered. */
  intent_serials: z.record(ProfileId, z.int().min(0).max(Number.MAX_SAFE_INTEGER)).default({}),
  /** When the head that the node holds was signed. */
  head_issued_at: Instant.nullable().default(null),
  /** Scopes whose increments were refused here: only a full snapshot helps. */
  resync: z.array(ScopeType).max(9).default([]),
  wait_ms: z.int().min(0).max(LIMITS.pollWaitMaxMs),
  protocol: Protocol.default(1),
  capabilities: Capabilities.default([]),
});
export type PollRequest = z.infer<typeof PollRequest>;

export const CommandDelivery = z.object({
  command: FrameBase64,
  intent: FrameBase64.nullable(),
  proof: MerkleProof,
});
export type CommandDelivery = z.infer<typeof CommandDelivery>;

export const PollResponse = z.object({
  snapshots: z.array(FrameBase64).max(32),
  /** Applied after the snapshots; one whose base does not match makes the node ask for the full one. */
  increments: z.array(FrameBase64).max(32).default([]),
  head: FrameBase64.nullable().default(null),
  commands: z.array(CommandDelivery).max(16),
  /** Empty intents of cancelled rollouts: they authorise nothing and outdate what came before. */
  void_intents: z.array(FrameBase64).max(16),
});
export type PollResponse = z.infer<typeof PollResponse>;

export const APPLICATION_HEALTH = ["ok", "degraded", "critical"] as const;
export const SYNC_STATUS = ["synced", "syncing", "stalled"] as const;
export const NODE_STATES = ["active", "maintenance", "degraded", "down", "failed"] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** Of a refusal. */
export const REASON_CHARS_MAX = 1000;
/** Of a verdict. */
export const ERROR_MESSAGE_CHARS_MAX = 2000;
export const INSTANCE_ID_CHARS_MAX = 200;
/** The most that systemd counts. */
export const RESTARTS_MAX = 2 ** 32 - 1;

export const Rejection = z.object({
  code: LongText(64),
  subject: LongText(200),
  reason: LongText(REASON_CHARS_MAX),
  at: Instant,
  /** For a snapshot: which of the twelve checks, and on what. */
  scope: ScopeType.optional(),
  step: z.int().min(1).max(12).optional(),
  field: LongText(200).optional(),
  version: SnapshotVersion.optional(),
});
export type Rejection = z.infer<typeof Rejection>;

/** A start that no control plane was asked about. */
export const StartedAlone = z.object({
  at: Instant,
  /** Since when the authority of what was started had expired; null when it had not. */
  expired_since: Instant.nullable(),
});
export type StartedAlone = z.infer<typeof StartedAlone>;

export const ProgramReport = z.object({
  chain_profile_id: ProfileId,
  application_health: z.enum(APPLICATION_HEALTH),
  sync_status: z.enum(SYNC_STATUS),
  /** What runs, as the shim verified it; null when nothing runs. */
  running_fingerprint: Digest.nullable(),
  /** What lies installed, as measured. */
  installed_fingerprint: Digest.nullable(),
  version: Version.nullable(),
  instance_id: LongText(INSTANCE_ID_CHARS_MAX).nullable(),
  started_at: Instant.nullable(),
  restarts: z.int().min(0).max(RESTARTS_MAX),
  started_alone: StartedAlone.optional(),
});
export type ProgramReport = z.infer<typeof ProgramReport>;

/**
 * One run of an agent. The id is made at its start and kept in memory only: a copied disk does not copy it, and an id
 * that was followed by another never speaks again unless a second machine holds the same key. It turns from time to
 * time, so that clones of a running machine part.
 */
export const AgentInstance = z.object({
  id: Uuid,
  /** The machine's name for itself, for people. */
  host: LongText(253).regex(/^[!-~]+$/),
  started_at: Instant,
  /** The id under which this agent spoke before. */
  follows: Uuid.optional(),
});
export type AgentInstance = z.infer<typeof AgentInstance>;

export const Heartbeat = z.object({
  at: Instant,
  agent_version: LongText(50),
  applied: AppliedVersions,
  programs: z.array(ProgramReport).max(100),
  last_rejection: Rejection.nullable(),
  instance: AgentInstance.optional(),
});
export type Heartbeat = z.infer<typeof Heartbeat>;

/** Kept on the node until the server has stored it; `report_id` makes a second delivery harmless. */
export const UpgradeReport = z.object({
  report_id: Uuid,
  command_id: CommandId,
  at: Instant,
  body: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("progress"), progress: UpgradeProgress }),
    /** Accepted, and behind a job of another program of this node: an agent runs one at a time. */
    z.object({
      kind: z.literal("waiting"),
      waiting_for: ProfileId,
      jobs_ahead: z
        .int()
        .min(1)
        .max(2 * LIMITS.nodeProfilesMax),
    }),
    z.object({
      kind: z.literal("verdict"),
      verdict: AgentVerdict,
      error_code: LongText(64).nullable(),
      error_message: LongText(ERROR_MESSAGE_CHARS_MAX).nullable(),
      started_at: Instant,
      ended_at: Instant,
    }),
    z.object({ kind: z.literal("refused"), rejection: Rejection }),
  ]),
});
export type UpgradeReport = z.infer<typeof UpgradeReport>;

/** A verdict brings its own heartbeat, so that health can be judged without waiting for the next one. */
export const ReportRequest = z.object({
  reports: z.array(UpgradeReport).min(1).max(100),
  heartbeat: Heartbeat.nullable(),
});
export type ReportRequest = z.infer<typeof ReportRequest>;

/**
 * The outcome of a report. `repeated`: nothing new about its command. `unknown_command`: the control plane has no such
 * command for the node; how it ended is noted all the same.
 */
export const REPORT_OUTCOMES = ["stored", "repeated", "unknown_command"] as const;
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** An answered report is done with; one without an answer is sent again. An older control plane answers nothing: 204. */
export interface ReportAnswers {
  readonly answers: readonly {
    readonly report_id: UpgradeReport["report_id"];
    readonly outcome: ReportOutcome;
    readonly reason: string | null;
  }[];
}

/** Unsigned, so read tolerantly: a newer control plane may know more outcomes. */
export const ReceivedAnswers = z.object({
  answers: z.array(z.object({ report_id: Uuid, outcome: z.string(), reason: z.string().nullable() })),
});
export type ReceivedAnswers = z.infer<typeof ReceivedAnswers>;
