/**
 * One step of a rollout: rows in, changes out. No clock, no IO; simulation and server call the same function.
 *
 * 1. A batch is launched only when every node of the one before it is settled and the gate between them is open.
 * 2. Pause, cancel and rollback take effect at the batch boundary, the health wait included.
 * 3. A batch is opened over several steps, so that no step grows with it. What is asked for meanwhile keeps the rest.
 * 4. An intent that nodes no longer take halts a running rollout at once: nodes at work finish, and none is launched.
 * 5. Calling it again with the rows it produced changes nothing until something new happens.
 */
import { applyReports } from "./apply-reports.ts";
import { applySignals } from "./apply-signals.ts";
import type { RolloutDecision } from "./decision.ts";
import { Draft } from "./draft.ts";
import { intentUntrusted } from "./holds.ts";
import { incidentOfUntrustedIntent } from "./incidents.ts";
import { settleMeasured } from "./late.ts";
import { observeBatch } from "./observe-batch.ts";
import { passGate } from "./pass-gate.ts";
import { retriesOfBatch } from "./retry-gate.ts";
import { passReverseGate } from "./reverse-gate.ts";
import type { RolloutRows } from "./rows.ts";
import { isActive } from "./states.ts";

export function decideRollout(rows: RolloutRows, now: number): RolloutDecision {
  const draft = Draft(rows);
  settleMeasured(draft);
  applySignals(draft, rows.signals, now);
  applyReports(draft, rows.reports, now);
  if (isActive(draft.rollout.status)) {
    haltUntrusted(draft); // (4)
    observeBatch(draft, now);
    const retries = retriesOfBatch(draft, now);
    if (draft.isOpening(now)) draft.openBatch(draft.next!, "pending");
    else if (retries !== null) draft.openBatch(retries, "retried");
    else {
      passReverseGate(draft, now);
      passGate(draft, now);
    }
  }
  return draft.finish(now);
}

function haltUntrusted(draft: Draft): void {
  const why = draft.rollout.status === "running" ? intentUntrusted(draft) : null;
  if (why !== null && draft.move("halt", why)) draft.incidents.push(incidentOfUntrustedIntent(why));
}
