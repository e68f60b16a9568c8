/** Runs accepted jobs one after the other; what a crash interrupted is taken up first. */
import { FairleadError, unreachable } from "../core/errors.ts";
import type { ProfileId } from "../core/ids.ts";
import type { ConfigRef } from "../core/upgrade/job.ts";
import type { Clock } from "../host/clock.ts";
import type { FileSystemPort } from "../host/file-system-port.ts";
import type { Logger } from "../host/log.ts";
import { digestOf } from "../trust/digest.ts";
import type { Ledger, PendingJob } from "./authority/ledger.ts";
import type { Link } from "./link/link.ts";
import type { Outbox } from "./link/outbox.ts";
import { firstAnswer } from "./programs/first-answer.ts";
import type { Programs } from "./programs/programs.ts";
import type { SnapshotStore } from "./snapshots/store.ts";
import { ensureRunning } from "./upgrade/ensure-running.ts";
import { runUpgrade } from "./upgrade/executor.ts";

export interface RunnerDeps {
  readonly stateDir: string;
  readonly programs: Programs;
  readonly snapshots: SnapshotStore;
  readonly ledger: Ledger;
  readonly outbox: Outbox;
  readonly link: () => Link;
  readonly clock: Clock;
  readonly log: Logger;
  readonly fs: FileSystemPort;
  /** Health is watched closely while this is true. */
  readonly busy: (busy: boolean) => void;
}

export function createRunner(deps: RunnerDeps) {
  const { programs, snapshots, ledger, outbox, stateDir, clock, fs } = deps;
  let current: Promise<void> = Promise.resolve();

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
    return bytes;
  }

  async function runOne({ job, not_after }: PendingJob, signal: AbortSignal): Promise<void> {
    const log = deps.log.child({
      rollout_id: job.rollout_id,
      direction: job.direction,
      attempt: job.attempt,
    });
    deps.busy(true);
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
      beforeAction: (action) => {
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
    deps.busy(false);
  }

  /** A program that cannot start must not take its agent down: an upgrade is what could repair it. */
  async function ensure(profile: ProfileId, signal: AbortSignal): Promise<void> {
    const [program, adapter] = [programs.config(profile), programs.adapter(profile)];
    try {
      const ensured = await ensureRunning({ profile, program, adapter, stateDir, signal, fs });
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
      if (!signal.aborted) deps.log.error("the program does not start", { profile, error });
    }
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
      for (const pending of ledger.pending()) queue(() => runOne(pending, signal), signal);
      for (const profile of programs.all()) queue(() => ensure(profile, signal), signal);
    },
    start: (pending: PendingJob, signal: AbortSignal): void => queue(() => runOne(pending, signal), signal),
    idle: () => current,
  };
}

const messageOf = ({ action, message }: { action: string | null; message: string }): string =>
  (action === null ? message : `${action}: ${message}`).slice(0, 2000);
