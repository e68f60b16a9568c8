/**
 * Runs accepted jobs one after the other; what a crash interrupted is taken up first.
 *
 * 1. A job begins, and stops its program, only while its command would still be accepted; past that it ends or is taken
 *    back without asking.
 * 2. A job is concluded once its verdict is on disk or with the server. Until then a restart runs it again, if it may.
 * 3. A checkpoint whose job was concluded is left over from a disk that failed: it is taken back before anything else.
 */
import { FairleadError } from "../core/errors.ts";
import type { ProfileId } from "../core/ids.ts";
import type { ConfigRef, UpgradeJob } from "../core/upgrade/job.ts";
import { LIMITS } from "../core/limits.ts";
import { ERROR_MESSAGE_CHARS_MAX } from "../core/protocol/agent-api.ts";
import { storableText } from "../core/text.ts";
import { sleep, type Clock } from "../host/clock.ts";
import type { FileSystemPort } from "../host/file-system-port.ts";
import type { Logger } from "../host/log.ts";
import { refuseSecretIn } from "../trust/config-secrets.ts";
import { digestOf } from "../trust/digest.ts";
import type { AuthorizeAgain } from "./authority/authorize-again.ts";
import type { Ledger, PendingJob } from "./authority/ledger.ts";
import type { Contact } from "./degraded/contact.ts";
import type { GateKeeper } from "./degraded/gate-keeper.ts";
import { jobConcerns } from "./degraded/program-concerns.ts";
import type { Link } from "./link/link.ts";
import type { Outbox } from "./link/outbox.ts";
import { createJobLine } from "./job-line.ts";
import { firstAnswer } from "./programs/first-answer.ts";
import { createProgramStarter } from "./program-starter.ts";
import type { Programs } from "./programs/programs.ts";
import { readActivation } from "./upgrade/activations.ts";
import { runUpgrade } from "./upgrade/executor.ts";
import { forbidForward, leftOverJob } from "./upgrade/left-over.ts";
import type { UpgradeDeps } from "./upgrade/run.ts";

const ASK_AGAIN_MS = 500;
const WATCH_MS = 5_000;

export interface RunnerDeps {
  readonly stateDir: string;
  readonly programs: Programs;
  readonly ledger: Pick<Ledger, "pending" | "conclude" | "noteRejection">;
  /** Throws the code of the check that no longer passes. */
  readonly authorizeAgain: AuthorizeAgain;
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
  const { programs, ledger, outbox, keeper, contact, stateDir, clock, fs } = deps;
  const line = createJobLine(outbox);
  let current: Promise<void> = Promise.resolve();
  const starter = createProgramStarter(deps);

  /** After a restart nobody knows yet whether the control plane is there: the first poll tells. */
  async function passGate(job: UpgradeJob): Promise<void> {
    await contact.settled();
    const activation = await readActivation(stateDir, job.chain_profile_id, fs);
    keeper.passGate("create_service_authority", ...jobConcerns(job, activation));
  }

  /** Nothing has stopped yet: a control plane that is away for a moment is waited for before the upgrade is given up. */
  async function passGateSoon(job: UpgradeJob, signal: AbortSignal): Promise<void> {
    await contact.settled();
    const end = clock.monotonic() + LIMITS.contactLostMs;
    const isAway = () => {
      const gate = keeper.ask("create_service_authority");
      return gate.kind === "closed" && (gate.code === "DEGRADED_FORBIDDEN" || gate.code === "HEAD_STALE");
    };
    while (isAway() && !signal.aborted && clock.monotonic() < end) await sleep(ASK_AGAIN_MS, signal);
    await passGate(job);
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

  const upgradeDeps = (profile: ProfileId, log: Logger, signal: AbortSignal) => ({
    adapter: programs.adapter(profile),
    stateDir,
    clock,
    log,
    signal,
    fs,
    fetchConfig,
  });

  const logOf = ({ rollout_id, direction, attempt }: UpgradeJob): Logger =>
    deps.log.child({ rollout_id, direction, attempt });

  async function runAndReport(pending: PendingJob, signal: AbortSignal): Promise<void> {
    const { job } = pending;
    const profile = job.chain_profile_id;
    await finishLeftOver(profile, signal);
    const log = logOf(job);
    log.info("upgrade begins", { version: job.artifact.version });
    const beforeAction: UpgradeDeps["beforeAction"] = async (action) => {
      if (action === "backup_state") await deps.authorizeAgain(pending, false); // (1)
      if (action !== "acquire_artifact" && action !== "stop_node") return;
      await passGateSoon(job, signal);
      if (action === "stop_node") await deps.authorizeAgain(pending, true); // (1)
    };
    const outcome = await runUpgrade(job, {
      ...upgradeDeps(profile, log, signal),
      retryAfterMs: LIMITS.upgradeRetryAfterMs,
      beforeAction,
      onProgress: (progress) => outbox.tell(job.command_id, { kind: "progress", progress }),
    });
    log.info("upgrade ends", { verdict: outcome.verdict, error: outcome.error });
    if (outcome.verdict === "COMPLETED") {
      await starter.startedByUpgrade(profile);
      await firstAnswer(programs.config(profile).health, clock, signal);
    }
    const { verdict, error, started_at, ended_at } = outcome;
    const body = {
      kind: "verdict",
      verdict,
      error_code: error?.code ?? null,
      error_message: error === null ? null : messageOf(error),
      started_at,
      ended_at,
    } as const;
    const stored = await outbox.add(job.command_id, body, () => void conclude(job));
    if (stored === "written") await conclude(job); // (2)
  }

  async function conclude(job: UpgradeJob): Promise<void> {
    try {
      await ledger.conclude(job.command_id);
    } catch (error) {
      logOf(job).error("job end not written to ledger", { error });
    }
  }

  /** (3) */
  async function finishLeftOver(profile: ProfileId, signal: AbortSignal): Promise<void> {
    try {
      const accepted = ledger.pending().map(({ job }) => job);
      const job = await leftOverJob(profile, accepted, stateDir, fs);
      if (job === null) return;
      const { verdict, error } = await runUpgrade(job, {
        ...upgradeDeps(profile, logOf(job), signal),
        beforeAction: forbidForward,
        onProgress: () => undefined,
      });
      logOf(job).warn("left-over upgrade ended", { verdict, error });
    } catch (error) {
      if (signal.aborted) throw error;
      deps.log.error("left-over checkpoint not removed", { profile, error });
    }
  }

  function queueJob(pending: PendingJob, signal: AbortSignal): void {
    line.join(pending);
    queue(() => runOne(pending, signal).finally(() => line.leave(pending)), signal);
  }

  /** One thing after the other; what fails unexpectedly does not keep the next one from its turn. */
  function queue(work: () => Promise<void>, signal: AbortSignal): void {
    current = current.then(work).catch((error: unknown) => {
      if (!signal.aborted) deps.log.error("upgrade interrupted; resumes at next start", { error });
    });
  }

  return {
    /** What should run, runs; what was begun, ends. */
    resume(signal: AbortSignal): void {
      for (const pending of ledger.pending()) queueJob(pending, signal);
      for (const profile of programs.all())
        queue(async () => {
          await finishLeftOver(profile, signal);
          await starter.ensure(profile, signal);
        }, signal);
    },
    /** The situation may have changed: what waited for the gate asks again. */
    reconsider(signal: AbortSignal): void {
      for (const profile of starter.takeWaiting()) queue(() => starter.ensure(profile, signal), signal);
    },
    /** For as long as the agent lives: a program that lost its shim is started again when it ends. */
    async watch(signal: AbortSignal): Promise<void> {
      while ((await sleep(WATCH_MS, signal)) === "elapsed")
        for (const profile of programs.all()) queue(() => starter.watch(profile, signal), signal);
    },
    start: queueJob,
    idle: () => current,
  };
}

const messageOf = ({ action, message }: { action: string | null; message: string }): string =>
  storableText(action === null ? message : `${action}: ${message}`, ERROR_MESSAGE_CHARS_MAX);
