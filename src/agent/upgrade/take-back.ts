/**
 * The way back (ROLL-5).
 *
 * 1. Every action that was begun is taken back, the one in doubt too: a start that timed out may have started.
 * 2. It has a budget of its own; how long the way forward took does not matter.
 * 3. The first failure ends it. Going on would start a program on half-restored files: a person decides.
 */
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { UpgradeAction } from "./actions/action.ts";
import { COMPENSATIONS } from "./actions/index.ts";
import { startTimer, within } from "./budget.ts";
import type { Checkpoint, Failure } from "./checkpoints.ts";
import { failureOf, type UpgradeRun } from "./run.ts";

export type TakenBack = { readonly kind: "restored" } | { readonly kind: "stuck"; readonly failure: Failure };

/** Throws only when the agent is leaving. */
export async function takeBack(run: UpgradeRun, failure: Failure): Promise<TakenBack> {
  await saveIfPossible(run, { failure });
  const expired = new FairleadError(
    "COMPENSATION_FAILED",
    `it took longer than ${LIMITS.compensationBudgetMs} ms`,
  );
  const budget = startTimer({ ms: LIMITS.compensationBudgetMs, expired, parent: run.leaving }); // (2)
  try {
    for (const action of COMPENSATIONS.filter((candidate) => isOwed(run, candidate))) {
      try {
        await undo(run, action, budget.signal);
      } catch (error) {
        run.leaving.throwIfAborted();
        return { kind: "stuck", failure: explain(error, action, failure) }; // (3)
      }
    }
    return { kind: "restored" };
  } finally {
    budget.clear();
  }
}

function isOwed(
  { checkpoint: { done, in_progress, taken_back } }: UpgradeRun,
  { name }: UpgradeAction,
): boolean {
  return (done.includes(name) || in_progress === name) && !taken_back.includes(name); // (1)
}

async function undo(run: UpgradeRun, action: UpgradeAction, parent: AbortSignal): Promise<void> {
  const { name, timeoutMs } = action;
  const expired = new FairleadError("ACTION_TIMEOUT", `taking back ${name} took longer than ${timeoutMs} ms`);
  await within({ ms: timeoutMs, expired, parent }, async (signal) =>
    action.compensate({ ...run.context, signal }),
  );
  await saveIfPossible(run, { taken_back: [...run.checkpoint.taken_back, name] });
}

/** A full disk must not keep the node from coming back: what cannot be noted is done again after a crash. */
async function saveIfPossible(run: UpgradeRun, change: Partial<Checkpoint>): Promise<void> {
  try {
    await run.save(change);
  } catch (error) {
    run.deps.log.error("checkpoint not written", { error });
  }
}

function explain(error: unknown, { name }: UpgradeAction, cause: Failure): Failure {
  const { code, message } = failureOf(error, name, "COMPENSATION_FAILED");
  const because = `the upgrade failed at ${cause.action}: ${cause.code}, ${cause.message}`;
  return { code, action: name, message: `taking back ${name} failed: ${message} (${because})` };
}
