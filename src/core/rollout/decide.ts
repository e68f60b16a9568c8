/**
 * One step of a rollout: rows in, changes out. No clock, no IO; simulation and server call the same function.
 *
 * 1. A batch is launched only when every node of the one before it is settled and within the threshold.
 * 2. Pause and cancel take effect at the batch boundary, the health wait included.
 * 3. Calling it again with the rows it produced changes nothing until something new happens.
 */
import { applyReports } from "./apply-reports.ts";
import { applySignals } from "./apply-signals.ts";
import { observeBatch } from "./observe-batch.ts";
import { passGate } from "./pass-gate.ts";
import { Draft } from "./draft.ts";
import type { RolloutDecision, RolloutRows } from "./rows.ts";
import { isActive } from "./states.ts";

export function decideRollout(rows: RolloutRows, now: number): RolloutDecision {
  const draft = Draft(rows);
  applySignals(draft, rows.signals);
  applyReports(draft, rows.reports);
  if (isActive(draft.rollout.status)) {
    observeBatch(draft, now);
    passGate(draft, now);
  }
  return draft.finish(now);
}
