/**
 * The way to the target, action by action (ROLL-5, ROLL-7).
 *
 * 1. An action counts as begun before it changes anything, and as done only once that is on disk.
 * 2. What a checkpoint calls done is skipped, but for what may have changed since: a reboot ends what was started, and
 *    a way back whose checkpoints a full disk refused has put files in place again.
 * 3. The hook is asked before an action is even looked at, also when there turns out to be nothing to do.
 * 4. A failure that may pass is tried again after each of the waits, within the deadline (ROLL-30): every action is
 *    idempotent.
 */
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import { type ActionName, progressAt } from "../../core/upgrade/phases.ts";
import type { UpgradeAction } from "./actions/action.ts";
import { ACTIONS } from "./actions/index.ts";
import { sleep } from "../../host/clock.ts";
import { startTimer, within } from "./budget.ts";
import type { Failure } from "./checkpoints.ts";
import { mayPass } from "./passing-failures.ts";
import { failureOf, type UpgradeRun } from "./run.ts";

const ASKED_AGAIN: ReadonlySet<ActionName> = new Set(["install_artifact", "write_configs", "start_node"]);

/** Null when every action is done. Throws only when the agent is leaving. */
export async function goForward(run: UpgradeRun): Promise<Failure | null> {
  const deadline = startTimer({ ms: timeLeft(run), expired: tooLate(), parent: run.leaving });
  try {
    for (const [index, action] of ACTIONS.entries()) {
      if (run.checkpoint.done.includes(action.name) && !ASKED_AGAIN.has(action.name)) continue; // (2)
      try {
        deadline.signal.throwIfAborted();
        await report(run, index);
        await stepPatiently(run, action, deadline.signal);
      } catch (error) {
        run.leaving.throwIfAborted();
        return failureOf(error, action.name);
      }
    }
    return null;
  } finally {
    deadline.clear();
  }
}

/** (4) */
async function stepPatiently(run: UpgradeRun, action: UpgradeAction, parent: AbortSignal): Promise<void> {
  const { retryAfterMs = [], log } = run.deps;
  for (const waitMs of retryAfterMs) {
    try {
      return await step(run, action, parent);
    } catch (error) {
      if (parent.aborted || !mayPass(error, action.name)) throw error;
      log.warn("action failed; trying again", { action: action.name, retry_ms: waitMs, error });
      await sleep(waitMs, parent);
      parent.throwIfAborted();
    }
  }
  return step(run, action, parent);
}

async function step(run: UpgradeRun, action: UpgradeAction, parent: AbortSignal): Promise<void> {
  const { name, timeoutMs } = action;
  const expired = new FairleadError("ACTION_TIMEOUT", `${name} took longer than ${timeoutMs} ms`);
  await run.deps.beforeAction?.(name); // (3)
  await within({ ms: timeoutMs, expired, parent }, async (signal) => {
    const context = { ...run.context, signal };
    if (await action.isDone(context)) return;
    signal.throwIfAborted();
    await run.save({ in_progress: name }); // (1)
    await action.run(context);
  });
  const done = [...run.checkpoint.done.filter((other) => other !== name), name];
  await run.save({ done, in_progress: null }); // (1)
}

async function report({ deps }: UpgradeRun, index: number): Promise<void> {
  try {
    await deps.onProgress(progressAt(index));
  } catch (error) {
    deps.log.warn("progress not reported", { error });
  }
}

/**
 * The deadline of the job is also how long its checkpoints are good for going on: all of them are younger than the job,
 * so none of ten minutes ago is gone forward from. For the way back they hold as long as it takes.
 */
const timeLeft = ({ checkpoint, deps }: UpgradeRun): number =>
  Date.parse(checkpoint.started_at) + LIMITS.scheduleToCloseMs - deps.clock.now();

const tooLate = (): FairleadError =>
  new FairleadError("DEADLINE_PASSED", `the upgrade took longer than ${LIMITS.scheduleToCloseMs} ms`);
