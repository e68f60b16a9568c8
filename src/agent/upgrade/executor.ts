/**
 * Runs one job to its verdict (ROLL-5, ROLL-6).
 *
 * 1. The verdict is on disk before the checkpoint goes: a crash in between repeats neither the work nor the answer.
 * 2. Once it is there nothing turns it: what fails while tidying up is logged, and done when the job is asked for again.
 * 3. After FAILED_ROLLBACK nothing further happens by itself: the profile is held until a later job succeeds. Where
 *    the hold cannot be written, on a full disk, the checkpoint stays in its place: nothing starts beside that either.
 */
import { join } from "node:path";
import { unreachable } from "../../core/errors.ts";
import { jobKey, type UpgradeJob } from "../../core/upgrade/job.ts";
import { type Failure, inputOf, readCheckpoint, removeCheckpoint } from "./checkpoints.ts";
import { storeCompleted, type UpgradeOutcome } from "./completed-store.ts";
import { goForward } from "./forward.ts";
import { hold, readHold, release } from "./held.ts";
import { openJob } from "./opening.ts";
import { recordActivation } from "./record-activation.ts";
import { failureOf, isoNow, openRun, type UpgradeDeps, type UpgradeRun } from "./run.ts";
import { type StagedConfigs, stagedConfigs } from "./staged-configs.ts";
import { takeBack } from "./take-back.ts";

/** Rejects when `deps.signal` aborts: then, and after any crash, the same job goes on where it stood. */
export async function runUpgrade(job: UpgradeJob, deps: UpgradeDeps): Promise<UpgradeOutcome> {
  const opening = await openJob(job, deps);
  switch (opening.kind) {
    case "refused":
      return opening.outcome;
    case "ended":
      await tidyUp(job, deps, opening.outcome); // (2)
      return opening.outcome;
    // However late: a success that is recorded is not taken back because its ten minutes are over.
    case "activated":
      return complete(openRun(deps, opening.checkpoint, configsOf(job, deps)));
    case "opened": {
      const run = openRun(deps, opening.checkpoint, configsOf(job, deps));
      const failure = run.checkpoint.failure ?? (await goForward(run)) ?? (await record(run));
      return failure === null ? complete(run) : fail(run, failure);
    }
    default:
      return unreachable(opening);
  }
}

/** The record belongs to the success: a node that could not note where a reverse leads has not finished. */
async function record(run: UpgradeRun): Promise<Failure | null> {
  try {
    await recordActivation(run);
    return null;
  } catch (error) {
    return failureOf(error, "start_node");
  }
}

async function complete(run: UpgradeRun): Promise<UpgradeOutcome> {
  const { adapter, stateDir, fs } = run.deps;
  const { job, plan } = run.checkpoint;
  await logged(run.deps, "download not removed", async () => adapter.removeDownload(plan.artifact));
  await logged(run.deps, "hold not lifted", async () => release(stateDir, job.chain_profile_id, fs));
  const instance_id = await instanceNow(run.deps);
  return conclude(run, { verdict: "COMPLETED", error: null, compensated: false, instance_id });
}

async function fail(run: UpgradeRun, failure: Failure): Promise<UpgradeOutcome> {
  const { stateDir, clock, log, fs } = run.deps;
  const { chain_profile_id } = run.checkpoint.job;
  log.warn("upgrade failed; taking it back", { ...failure });
  const taken = await takeBack(run, failure);
  if (taken.kind === "restored") {
    const instance_id = await instanceNow(run.deps);
    return conclude(run, { verdict: "FAILED", error: failure, compensated: true, instance_id });
  }
  log.error("upgrade not taken back; profile held", { ...taken.failure });
  const why = { ...taken.failure, at: isoNow(clock) };
  await logged(run.deps, "hold not written", async () => hold(stateDir, chain_profile_id, why, fs)); // (3)
  return conclude(run, {
    verdict: "FAILED_ROLLBACK",
    error: taken.failure,
    compensated: false,
    instance_id: null,
  });
}

/** For the report only: a runtime that does not answer any more turns no verdict. */
async function instanceNow({ adapter, log }: UpgradeDeps): Promise<string | null> {
  try {
    return (await adapter.running())?.instance_id ?? null;
  } catch (error) {
    log.error("running program unknown", { error });
    return null;
  }
}

type Verdict = Omit<UpgradeOutcome, "started_at" | "ended_at">;

async function conclude(run: UpgradeRun, verdict: Verdict): Promise<UpgradeOutcome> {
  const { stateDir, clock, fs } = run.deps;
  const { job, input, started_at } = run.checkpoint;
  const outcome: UpgradeOutcome = { ...verdict, started_at, ended_at: isoNow(clock) };
  const storing = async (): Promise<void> => storeCompleted(stateDir, job, { input, outcome }, fs); // (1)
  const stored = await logged(run.deps, "verdict not stored", storing);
  // A success that was not stored keeps its checkpoint and is stored next time. A failure has nothing to go on with.
  if (stored || verdict.verdict !== "COMPLETED") await tidyUp(job, run.deps, outcome);
  return outcome;
}

async function tidyUp(job: UpgradeJob, deps: UpgradeDeps, outcome: UpgradeOutcome): Promise<void> {
  const { stateDir, fs } = deps;
  const profile = job.chain_profile_id;
  await logged(deps, "staged configs not removed", async () => configsOf(job, deps).clear());
  await logged(deps, "checkpoint not removed", async () => {
    const checkpoint = await readCheckpoint(stateDir, profile, fs);
    if (checkpoint?.input !== inputOf(job)) return;
    if (outcome.verdict === "FAILED_ROLLBACK" && (await readHold(stateDir, profile, fs)) === null)
      await hold(stateDir, profile, { ...outcome.error!, at: outcome.ended_at }, fs); // (3)
    await removeCheckpoint(stateDir, profile, fs);
  });
}

function configsOf(job: UpgradeJob, { adapter, stateDir, fetchConfig, fs }: UpgradeDeps): StagedConfigs {
  const folder = join(stateDir, "upgrades", "staged", jobKey(job));
  return stagedConfigs({ folder, adapter, fetchConfig, fs });
}

async function logged({ log }: UpgradeDeps, message: string, work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    log.error(message, { error });
    return false;
  }
}
