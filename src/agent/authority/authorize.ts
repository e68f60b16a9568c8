/**
 * Decides whether a command may act here: intent, assignment and command must agree (SNAP-15, SNAP-16).
 *
 * 1. An ordered list of small checks, each with its own code; the first that fails decides.
 * 2. Pure: everything it looks at comes in. The shape of the answer is the job that the executor runs.
 */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, Digest, NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { MerkleProof } from "../../core/protocol/intent.ts";
import type { Assignment } from "../../core/snapshot/service-assignment.ts";
import type { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { UpgradeJob } from "../../core/upgrade/job.ts";
import type { VerifiedCommand } from "../../trust/command.ts";
import { runDigest, type VerifiedIntent } from "../../trust/intent.ts";
import { provesLeaf } from "../../trust/merkle.ts";
import { AHEAD_REASON, isTooFarAhead } from "../../trust/node-time.ts";
import type { TimeWindow } from "../../trust/trusted-keys.ts";
import type { HeldAssignment } from "../snapshots/store.ts";
import type { ActivationRecord } from "../upgrade/activations.ts";
import { attemptKey, type ProfileLedger } from "./ledger.ts";

export interface Situation {
  readonly nodeId: NodeId;
  readonly clusterId: ClusterId;
  readonly time: TimeWindow;
  readonly mark: number;
  readonly bundle: TrustBundle;
  readonly knowsProfile: boolean;
  readonly assignment: HeldAssignment | null;
  readonly intent: VerifiedIntent | null;
  readonly proof: MerkleProof;
  readonly ledger: ProfileLedger;
  /** What lies installed, as measured just now. */
  readonly installed: Digest | null;
  readonly activation: ActivationRecord | null;
}

type Check = (command: VerifiedCommand, situation: Situation) => void;

const CHECKS: readonly Check[] = [
  addressedHere,
  neverSeen,
  inTime,
  profileKnown,
  assignmentAgrees,
  intentPresent,
  intentAgrees,
  intentNamesThisNode,
  intentOpen,
  intentNewest,
  attemptAllowed,
  targetAllowed,
  currentMeasured,
];

/** `begun`: the command's own lifetime bounds when its job begins, not how long it takes. */
export function authorize(command: VerifiedCommand, situation: Situation, begun = false): UpgradeJob {
  for (const check of CHECKS) if (!(begun && check === inTime)) check(command, situation);
  const { header, payload } = command;
  return {
    command_id: header.command_id,
    rollout_id: header.rollout_id,
    upgrade_id: payload.upgrade_id,
    node_id: header.subject_node_id,
    chain_profile_id: header.chain_profile_id,
    direction: header.direction,
    attempt: header.attempt,
    artifact: payload.artifact,
    run: payload.run,
    configs: payload.configs,
  };
}

function refuseUnless(holds: boolean, code: ErrorCode, reason: string): void {
  if (!holds) throw new FairleadError(code, reason);
}

function addressedHere({ header }: VerifiedCommand, { nodeId, clusterId }: Situation): void {
  const here = header.subject_node_id === nodeId && header.cluster_id === clusterId;
  refuseUnless(here, "COMMAND_WRONG_NODE", `the command is for node ${header.subject_node_id}`);
}

function neverSeen({ header }: VerifiedCommand, { mark }: Situation): void {
  refuseUnless(header.sequence > mark, "COMMAND_REPLAYED", `sequence ${header.sequence} ≤ ${mark}`);
}

function inTime({ header }: VerifiedCommand, { time }: Situation): void {
  refuseUnless(
    Date.parse(header.expires_at) > time.effective,
    "COMMAND_EXPIRED",
    `it expired at ${header.expires_at}`,
  );
  refuseUnless(!isTooFarAhead(header.issued_at, time), "COMMAND_AHEAD", `it was issued ${AHEAD_REASON}`);
}

function profileKnown({ header }: VerifiedCommand, { knowsProfile }: Situation): void {
  refuseUnless(
    knowsProfile,
    "PROFILE_UNKNOWN",
    `the agent's config has no program for ${header.chain_profile_id}`,
  );
}

function assignmentAgrees({ header, payload }: VerifiedCommand, { assignment, time }: Situation): void {
  if (assignment === null)
    throw new FairleadError("ASSIGNMENT_MISSING", "no service_assignment was accepted");
  const { expires_at, config_version } = assignment.header;
  refuseUnless(
    Date.parse(expires_at) > time.effective,
    "ASSIGNMENT_EXPIRED",
    `the assignment expired at ${expires_at}`,
  );
  const mine = assignment.content.assignments.find(
    (each) => each.chain_profile_id === header.chain_profile_id,
  );
  if (mine === undefined)
    throw new FairleadError("ASSIGNMENT_MISSING", `no assignment for ${header.chain_profile_id}`);
  // A launch of another program of this node renews the assignment: a newer one that says the same of this profile counts.
  const agrees =
    config_version >= header.assignment_config_version &&
    mine.kind === "upgrading" &&
    mine.target === header.fingerprint &&
    mine.rollout_id === header.rollout_id &&
    mine.intent_digest === header.intent_digest &&
    payload.artifact.fingerprint === header.fingerprint;
  refuseUnless(agrees, "ASSIGNMENT_MISMATCH", describe(mine, config_version));
}

const describe = (mine: Assignment, version: number): string =>
  `assignment ${version} is ${mine.kind} to ${mine.target.slice(0, 19)} by rollout ${mine.rollout_id}`;

function intentPresent({ header }: VerifiedCommand, { bundle, intent }: Situation): void {
  if (intent !== null) return;
  const weak = !bundle.intents_required && header.intent_digest === null;
  refuseUnless(weak, "COMMAND_INTENT_MISSING", "this cluster's trust bundle requires a signed intent");
}

function intentAgrees({ header, payload }: VerifiedCommand, { intent, clusterId }: Situation): void {
  if (intent === null) return;
  const { intent: wish, digest } = intent;
  const same =
    digest === header.intent_digest &&
    wish.cluster_id === clusterId &&
    wish.rollout_id === header.rollout_id &&
    wish.chain_profile_id === header.chain_profile_id &&
    (header.direction === "reverse" || wish.fingerprint === header.fingerprint);
  refuseUnless(same, "INTENT_MISMATCH", "the intent was signed for something else");
  refuseUnless(
    wish.run_digest === runDigest(payload.run),
    "RUN_SPEC_MISMATCH",
    "argv, env or user are not the signed ones",
  );
}

function intentNamesThisNode({ payload }: VerifiedCommand, { intent, proof, nodeId }: Situation): void {
  if (intent === null) return;
  const root = intent.intent.nodes_root;
  const named = root !== null && provesLeaf({ node_id: nodeId, configs: payload.configs }, proof, root);
  refuseUnless(named, "INTENT_WRONG_NODE", "the intent does not name this node with these configs");
}

function intentOpen(_command: VerifiedCommand, { intent, time }: Situation): void {
  if (intent === null) return;
  const { not_before, not_after } = intent.intent;
  refuseUnless(Date.parse(not_before) <= time.local, "INTENT_NOT_YET", `the window opens at ${not_before}`);
  refuseUnless(Date.parse(not_after) > time.effective, "INTENT_EXPIRED", `the window closed at ${not_after}`);
}

function intentNewest(_command: VerifiedCommand, { intent, ledger }: Situation): void {
  if (intent === null) return;
  const { serial } = intent.intent;
  const newest =
    serial > ledger.serial || (serial === ledger.serial && intent.digest === ledger.intent_digest);
  refuseUnless(newest, "INTENT_SERIAL_OLD", `serial ${serial}; ${ledger.serial} was seen`);
}

function attemptAllowed({ header }: VerifiedCommand, { intent, ledger }: Situation): void {
  const max = intent?.intent.max_attempts ?? LIMITS.maxAttemptsDefault;
  refuseUnless(header.attempt <= max, "ATTEMPT_REFUSED", `attempt ${header.attempt} of at most ${max}`);
  if (intent === null) return;
  const ran = ledger.ran.includes(attemptKey(intent.digest, header.direction, header.attempt));
  refuseUnless(
    !ran,
    "ATTEMPT_REFUSED",
    `attempt ${header.attempt} ${header.direction} of this intent ran already`,
  );
}

function targetAllowed({ header }: VerifiedCommand, { intent, activation }: Situation): void {
  if (header.direction === "forward") return;
  refuseUnless(intent?.intent.rollback !== "none", "ROLLBACK_REFUSED", "the intent allows no rollback");
  const recorded =
    activation?.current.rollout_id === header.rollout_id ? activation.previous?.fingerprint : undefined;
  refuseUnless(
    recorded === header.fingerprint,
    "ROLLBACK_REFUSED",
    "not the fingerprint recorded before this rollout",
  );
}

function currentMeasured({ header }: VerifiedCommand, { assignment, installed }: Situation): void {
  const mine = assignment!.content.assignments.find(
    (each) => each.chain_profile_id === header.chain_profile_id,
  )!;
  const current = mine.kind === "upgrading" ? mine.current : mine.target;
  refuseUnless(
    current === installed,
    "CURRENT_MISMATCH",
    `installed is ${installed ?? "nothing"}, assigned current ${current ?? "nothing"}`,
  );
}
