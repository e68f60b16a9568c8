/** Takes delivered commands through verification to a job, a refusal, or the answer they had before. */
import { FairleadError } from "../../core/errors.ts";
import type { CommandId } from "../../core/ids.ts";
import { REASON_CHARS_MAX, type CommandDelivery, type Rejection } from "../../core/protocol/agent-api.ts";
import { storableText } from "../../core/text.ts";
import type { Clock } from "../../host/clock.ts";
import { verifyCommand, type VerifiedCommand } from "../../trust/command.ts";
import { verifyIntent } from "../../trust/intent.ts";
import type { GateKeeper } from "../degraded/gate-keeper.ts";
import { jobConcerns } from "../degraded/program-concerns.ts";
import type { Identity } from "../identity/store.ts";
import type { Programs } from "../programs/programs.ts";
import type { SnapshotStore } from "../snapshots/store.ts";
import { readActivation } from "../upgrade/activations.ts";
import { authorize } from "./authorize.ts";
import type { Ledger, PendingJob } from "./ledger.ts";

export type Received =
  | { readonly kind: "accepted"; readonly pending: PendingJob }
  | { readonly kind: "refused"; readonly commandId: CommandId | null; readonly rejection: Rejection }
  | { readonly kind: "repeated" };

export interface ReceiveDeps {
  readonly identity: Identity;
  readonly snapshots: SnapshotStore;
  readonly ledger: Ledger;
  readonly programs: Programs;
  readonly keeper: Pick<GateKeeper, "passGate">;
  readonly stateDir: string;
  readonly clock: Clock;
}

export async function receiveCommand(deps: ReceiveDeps, delivery: CommandDelivery): Promise<Received> {
  const { ledger, clock } = deps;
  const frame = Buffer.from(delivery.command, "base64");
  const before = ledger.find(frame);
  if (before !== undefined && !before.newest) return replayed(ledger, clock, frame, before.command_id);
  if (before !== undefined) {
    if (before.rejection === null) return { kind: "repeated" };
    return { kind: "refused", commandId: before.command_id, rejection: before.rejection };
  }
  let command: VerifiedCommand | null = null;
  try {
    command = verified(deps, frame);
    const intent = verifiedIntent(deps, delivery, command);
    const profile = command.header.chain_profile_id;
    const activation = await readActivation(deps.stateDir, profile);
    const job = authorize(command, {
      nodeId: deps.identity.node_id,
      clusterId: deps.identity.cluster_id,
      time: deps.snapshots.time(),
      mark: ledger.mark(),
      bundle: deps.snapshots.bundle()!,
      knowsProfile: deps.programs.has(profile),
      assignment: deps.snapshots.assignment(),
      intent,
      proof: delivery.proof,
      ledger: ledger.profile(profile),
      installed: await deps.programs.measure(profile),
      activation,
    });
    deps.keeper.passGate("create_service_authority", ...jobConcerns(job, activation));
    const pending = { job, delivery };
    const seen = intent === null ? null : { serial: intent.intent.serial, digest: intent.digest };
    await deps.snapshots.raiseFloor(command.header.issued_at);
    await ledger.accept(frame, { sequence: command.header.sequence, pending, intent: seen });
    return { kind: "accepted", pending };
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return refuse(ledger, clock, frame, command, error);
  }
}

export function verified({ snapshots }: Pick<ReceiveDeps, "snapshots">, frame: Buffer): VerifiedCommand {
  const bundle = snapshots.bundle();
  if (bundle === null) throw new FairleadError("COMMAND_UNTRUSTED", "no trust bundle is accepted");
  return verifyCommand(frame, bundle, snapshots.time(), snapshots.revokedKeys());
}

export function verifiedIntent(
  { snapshots }: Pick<ReceiveDeps, "snapshots">,
  delivery: CommandDelivery,
  command: VerifiedCommand,
) {
  if (delivery.intent === null || command.header.intent_digest === null) return null;
  const frame = Buffer.from(delivery.intent, "base64");
  return verifyIntent(frame, snapshots.bundle()!, snapshots.time(), snapshots.revokedKeys());
}

/** Its own end was reported long ago: what is told now is that somebody sent it again. */
async function replayed(ledger: Ledger, clock: Clock, frame: Buffer, id: CommandId): Promise<Received> {
  const rejection: Rejection = {
    code: "COMMAND_REPLAYED",
    subject: `command ${id}`,
    reason: "a command that was answered before came again after newer ones",
    at: new Date(clock.now()).toISOString(),
  };
  await ledger.reject(frame, null, rejection);
  return { kind: "refused", commandId: null, rejection };
}

/** Of a command from the future nothing is kept: one that is signed again in time may have a lower sequence. */
const LEAVES_NO_MARK: readonly string[] = ["COMMAND_WRONG_NODE", "COMMAND_REPLAYED", "COMMAND_AHEAD"];

/** A command that was believed uses up its sequence even when it is refused; one that was not, changes nothing. */
async function refuse(
  ledger: Ledger,
  clock: Clock,
  frame: Buffer,
  command: VerifiedCommand | null,
  error: FairleadError,
): Promise<Received> {
  const subject =
    command === null
      ? "command"
      : `command ${command.header.sequence} of rollout ${command.header.rollout_id}`;
  const rejection: Rejection = {
    code: error.code,
    subject,
    reason: storableText(error.message, REASON_CHARS_MAX),
    at: new Date(clock.now()).toISOString(),
  };
  const known =
    command === null || LEAVES_NO_MARK.includes(error.code)
      ? null
      : { command_id: command.header.command_id, sequence: command.header.sequence };
  await ledger.reject(frame, known, rejection);
  return { kind: "refused", commandId: command?.header.command_id ?? null, rejection };
}
