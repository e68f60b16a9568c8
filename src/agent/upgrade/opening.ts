/**
 * What there is to do for a job that came: begin, go on, or answer at once (ROLL-6).
 *
 * 1. One that ended is answered from the completed store; one that a crash interrupted goes on from its checkpoint.
 * 2. The same key with another content is refused: each attempt is one thing, once.
 * 3. What is left over of a job that ended stands in nobody's way, and one that could not begin leaves nothing.
 */
import { FairleadError } from "../../core/errors.ts";
import { jobKey, type UpgradeJob } from "../../core/upgrade/job.ts";
import type { AgentVerdict } from "../../core/upgrade/phases.ts";
import { readActivation } from "./activations.ts";
import {
  beginCheckpoint,
  type Checkpoint,
  inputOf,
  readCheckpoint,
  removeCheckpoint,
} from "./checkpoints.ts";
import { findCompleted, type UpgradeOutcome } from "./completed-store.ts";
import { endOf } from "./ended.ts";
import { planOf } from "./plan.ts";
import { failureOf, isoNow, type UpgradeDeps } from "./run.ts";

export type Opening =
  /** `activated`: everything is done and recorded; only its verdict could not be stored. */
  | { readonly kind: "opened" | "activated"; readonly checkpoint: Checkpoint }
  | { readonly kind: "ended" | "refused"; readonly outcome: UpgradeOutcome };

export async function openJob(job: UpgradeJob, deps: UpgradeDeps): Promise<Opening> {
  const { stateDir, fs } = deps;
  try {
    const completed = await findCompleted(stateDir, job, fs);
    if (completed?.input === inputOf(job)) return { kind: "ended", outcome: completed.outcome }; // (1)
    if (completed !== undefined) return refuse(deps, otherInput(job)); // (2)

    const checkpoint = await readCheckpoint(stateDir, job.chain_profile_id, fs);
    if (checkpoint === undefined) return await begin(job, deps);
    const end = await endOf(stateDir, checkpoint, fs);
    if (checkpoint.input === inputOf(job))
      return { kind: end === "COMPLETED" ? "activated" : "opened", checkpoint }; // (1)
    if (end !== null) return await begin(job, deps); // (3)
    return refuse(deps, checkpoint.plan.key === jobKey(job) ? otherInput(job) : unfinished(checkpoint)); // (2)
  } catch (error) {
    return refuse(deps, error, "FAILED_ROLLBACK"); // nobody can tell any more what was begun
  }
}

async function begin(job: UpgradeJob, deps: UpgradeDeps): Promise<Opening> {
  const { stateDir, clock, fs } = deps;
  try {
    const checkpoint: Checkpoint = {
      job,
      input: inputOf(job),
      plan: planOf(job, await readActivation(stateDir, job.chain_profile_id, fs)),
      started_at: isoNow(clock),
      done: [],
      in_progress: null,
      facts: { backup: null },
      failure: null,
      taken_back: [],
    };
    await beginOrNot(checkpoint, deps);
    return { kind: "opened", checkpoint };
  } catch (error) {
    return refuse(deps, error);
  }
}

/** A disk that fails at the last sync has the name already: a job that is refused must not seem to be under way. (3) */
async function beginOrNot(checkpoint: Checkpoint, { stateDir, fs, log }: UpgradeDeps): Promise<void> {
  try {
    await beginCheckpoint(stateDir, checkpoint, fs);
  } catch (error) {
    await removeCheckpoint(stateDir, checkpoint.job.chain_profile_id, fs).catch((left: unknown) =>
      log.error("checkpoint of unstarted job not removed", { error: left }),
    );
    throw error;
  }
}

/** Nothing was done, so nothing is stored either. */
function refuse({ clock }: UpgradeDeps, error: unknown, verdict: AgentVerdict = "FAILED"): Opening {
  const now = isoNow(clock);
  const failure = failureOf(error, null);
  const outcome = {
    verdict,
    error: failure,
    compensated: false,
    started_at: now,
    ended_at: now,
    instance_id: null,
  };
  return { kind: "refused", outcome };
}

const otherInput = (job: UpgradeJob): FairleadError =>
  new FairleadError("ATTEMPT_REFUSED", `${jobKey(job)} was begun with another content`);

const unfinished = ({ plan }: Checkpoint): FairleadError =>
  new FairleadError("STATE_MOVED", `${plan.key} is not finished on this profile`);
