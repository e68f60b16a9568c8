/** Runs accepted jobs one after the other; what a crash interrupted is taken up first. */
import { FairleadError, unreachable } from "../core/errors.ts";
import type { ProfileId } from "../core/ids.ts";
import type { ConfigRef } from "../core/upgrade/job.ts";
import { LIMITS } from "../core/limits.ts";
import { ERROR_MESSAGE_CHARS_MAX, REASON_CHARS_MAX } from "../core/protocol/agent-api.ts";
import { storableText } from "../core/text.ts";
import { sleep, type Clock } from "../host/clock.ts";
import type { FileSystemPort } from "../host/file-system-port.ts";
import type { Logger } from "../host/log.ts";
import { refuseSecretIn } from "../trust/config-secrets.ts";
import { digestOf } from "../trust/digest.ts";
import type { Ledger, PendingJob } from "./authority/ledger.ts";
import type { Contact } from "./degraded/contact.ts";
import type { GateKeeper } from "./degraded/gate-keeper.ts";
import type { Link } from "./link/link.ts";
import type { Outbox } from "./link/outbox.ts";
import { createJobLine } from "./job-line.ts";
import { firstAnswer } from "./programs/first-answer.ts";
import type { Programs } from "./programs/programs.ts";
import type { SnapshotStore } from "./snapshots/store.ts";
import { failEarlierIdentity } from "./upgrade/earlier-identity.ts";
import { ensureRunning } from "./upgrade/ensure-running.ts";
import { runUpgrade } from "./upgrade/executor.ts";

const ASK_AGAIN_MS = 500;

export interface RunnerDeps {
  readonly stateDir: string;
  readonly programs: Programs;
  readonly snapshots: SnapshotStore;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly keeper: GateKeeper;
  readonly contact: Contact;
  readonly link: () => Link;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fs: FileSystemPort;
  /** Health is watched closely while this is true. */
  readonly busy: (busy: boolean) => void;
  /** There is something to tell. */
  readonly beat: () => void;
}

export function createRunner(deps: RunnerDeps) {
  const { programs, snapshots, ledger, outbox, keeper, contact, stateDir, clock, fs } = deps;
  const line = createJobLine(outbox);
  let current: Promise<void> = Promise.resolve();
  /** Programs that were not started because the gate was closed, and those of which that was told. */
  const waiting = new Set<ProfileId>();
  const told = new Set<ProfileId>();

  /** After a restart nobody knows yet whether the control plane is there: the first poll tells. */
  async function passGate(action: "continue_services" | "create_service_authority", profile: ProfileId) {
    await contact.settled();
    keeper.passGate(action, { kind: "service_assignment", id: profile });
  }

  /** Nothing has stopped yet: a control plane that is away for a moment is waited for before the upgrade is given up. */
  async function passGateSoon(profile: ProfileId, signal: AbortSignal): Promise<void> {
    await contact.settled();
    const end = clock.monotonic() + LIMITS.contactLostMs;
    const isAway = () => {
      const gate = keeper.ask("create_service_authority");
      return gate.kind === "closed" && (gate.code === "DEGRADED_FORBIDDEN" || gate.code === "HEAD_STALE");
    };
    while (isAway() && !signal.aborted && clock.monotonic() < end) await sleep(ASK_AGAIN_MS, signal);
    await passGate("create_service_authority", profile);
  }

  /** A window that closed stops nothing that has begun, but no program is stopped after it. */
  function authorityHolds(notAfter: string | null): void {
    const { effective } = snapshots.time();
    if (notAfter !== null && Date.parse(notAfter) <= effective) {
      throw new FairleadError("INTENT_EXPIRED", `the intent's window closed at ${notAfter}`);
    }
    const assignment = snapshots.assignment();
    if (assignment === null) throw new FairleadError("ASSIGNMENT_MISSING", "the assignment is gone");
    if (Date.parse(assignment.header.expires_at) <= effective) {
      throw new FairleadError(
        "ASSIGNMENT_EXPIRED",
        `the assignment expired at ${assignment.header.expires_at}`,
      );
    }
  }

  async function fetchConfig(ref: ConfigRef): Promise<Uint8Array> {
    const bytes = await deps.link().blob(ref.sha256);
    if (digestOf(bytes) !== ref.sha256)
      throw new FairleadError("CONFIG_DIGEST_MISMATCH", `${ref.path} is not what was signed`);
    refuseSecretIn({ path: ref.path, content: Buffer.from(bytes).toString("utf8") });
    return bytes;
  }

  async function runOne(pending: PendingJob, signal: AbortSignal): Promise<void> {
    deps.busy(true);
    try {
      await runAndReport(pending, signal);
    } finally {
      deps.busy(false);
    }
  }

  async function runAndReport({ job, not_after }: PendingJob, signal: AbortSignal): Promise<void> {
    const log = deps.log.child({
      rollout_id: job.rollout_id,
      direction: job.direction,
      attempt: job.attempt,
    });
    log.info("upgrade begins", { version: job.artifact.version });
    const outcome = await runUpgrade(job, {
      adapter: programs.adapter(job.chain_profile_id),
      stateDir,
      clock,
      log,
      signal,
      fs,
      fetchConfig,
      onProgress: (progress) => outbox.tell(job.command_id, { kind: "progress", progress }),
      beforeAction: async (action) => {
        if (action !== "acquire_artifact" && action !== "stop_node") return;
        await passGateSoon(job.chain_profile_id, signal);
        if (action === "stop_node") authorityHolds(not_after);
      },
    });
    log.info("upgrade ends", { verdict: outcome.verdict, error: outcome.error });
    if (outcome.verdict === "COMPLETED")
      await firstAnswer(programs.config(job.chain_profile_id).health, clock, signal);
    await outbox.add(job.command_id, {
      kind: "verdict",
      verdict: outcome.verdict,
      error_code: outcome.error?.code ?? null,
      error_message: outcome.error === null ? null : messageOf(outcome.error),
      started_at: outcome.started_at,
      ended_at: outcome.ended_at,
    });
    await ledger.conclude(job.command_id);
  }

  async function takeBackEarlier(profile: ProfileId, signal: AbortSignal): Promise<void> {
    const job = await failEarlierIdentity(profile, snapshots.nodeId, stateDir, fs);
    if (job === null) return;
    const log = deps.log.child({ profile, rollout_id: job.rollout_id });
    const { verdict, error } = await runUpgrade(job, {
      adapter: programs.adapter(profile),
      stateDir,
      clock,
      log,
      signal,
      fs,
      fetchConfig,
      onProgress: () => undefined,
    });
    log.warn("upgrade of an earlier identity ended", { verdict, error });
  }

  /** A program that cannot start must not take its agent down: an upgrade is what could repair it. */
  async function ensure(profile: ProfileId, signal: AbortSignal): Promise<void> {
    const [program, adapter] = [programs.config(profile), programs.adapter(profile)];
    try {
      const beforeStart = () => passGate("continue_services", profile);
      const ensured = await ensureRunning({ profile, program, adapter, stateDir, signal, beforeStart, fs });
      told.delete(profile);
      switch (ensured.kind) {
        case "running":
        case "started":
          break;
        case "not_installed":
        case "upgrade_unfinished":
        case "held":
        case "drifted":
          deps.log.warn("the program is not started", { profile, ...ensured });
          break;
        default:
          unreachable(ensured);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof FairleadError && error.detail?.["action"] === "continue_services")
        return await waitForGate(profile, error);
      deps.log.error("the program does not start", { profile, error });
    }
  }

  /** Told once, not with every poll. */
  async function waitForGate(profile: ProfileId, { code, message }: FairleadError): Promise<void> {
    waiting.add(profile);
    if (told.has(profile)) return;
    told.add(profile);
    deps.log.warn("the program is not started: the gate is closed", { profile, code, reason: message });
    const at = new Date(clock.now()).toISOString();
    const reason = storableText(message, REASON_CHARS_MAX);
    await ledger.noteRejection({ code, subject: `start of ${profile}`, reason, at });
    deps.beat();
  }

  function queueJob(pending: PendingJob, signal: AbortSignal): void {
    line.join(pending);
    queue(() => runOne(pending, signal).finally(() => line.leave(pending)), signal);
  }

  /** One thing after the other; what fails unexpectedly does not keep the next one from its turn. */
  function queue(work: () => Promise<void>, signal: AbortSignal): void {
    current = current.then(work).catch((error: unknown) => {
      if (!signal.aborted)
        deps.log.error("the upgrade stopped unexpectedly; it goes on at the next start", { error });
    });
  }

  return {
    /** What should run, runs; what was begun, ends. */
    resume(signal: AbortSignal): void {
      for (const profile of programs.all()) queue(() => takeBackEarlier(profile, signal), signal);
      for (const pending of ledger.pending()) queueJob(pending, signal);
      for (const profile of programs.all()) queue(() => ensure(profile, signal), signal);
    },
    /** The situation may have changed: what waited for the gate asks again. */
    reconsider(signal: AbortSignal): void {
      for (const profile of waiting) queue(() => ensure(profile, signal), signal);
      waiting.clear();
    },
    start: queueJob,
    idle: () => current,
  };
}

const messageOf = ({ action, message }: { action: string | null; message: string }): string =>
  storableText(action === null ? message : `${action}: ${message}`, ERROR_MESSAGE_CHARS_MAX);
