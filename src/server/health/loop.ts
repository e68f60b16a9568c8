/** Looks at the nodes' health every few seconds, and for stuck ones less often. */
import { LIMITS } from "../../core/limits.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import { repeat } from "../repeat.ts";
import { SILENCES_MAX, watchSilence } from "../rollout/silence.ts";
import { freeStuckNodes } from "./cleanup.ts";
import { lookForCopies } from "./copied-identities.ts";
import { CHANGES_MAX, evaluateHealth } from "./evaluate.ts";

const CLEANUPS_PER_LIMIT = 30;

export interface HealthLoopDeps {
  readonly db: Database;
  readonly maintenanceLimitMs: number;
  readonly log: Logger;
  /** False while the clocks disagree: rollouts make no step. */
  readonly mayStep: () => boolean;
}

export function startHealthLoops(deps: HealthLoopDeps): { stop(): Promise<void> } {
  const { db, maintenanceLimitMs, log, mayStep } = deps;
  const evaluating = repeat("evaluating health", LIMITS.healthLookMs, log, async () => {
    const changed = await evaluateHealth(db);
    if (changed !== null && changed > 0) log.info("node states changed", { nodes: changed });
    return changed === CHANGES_MAX ? 0 : LIMITS.healthLookMs;
  });
  const listening = repeat("listening for silent nodes", LIMITS.healthLookMs, log, async () => {
    // The signal that gives a node up would wait for the clocks, and be applied to a node that was heard meanwhile.
    if (!mayStep()) return LIMITS.healthLookMs;
    const changed = await watchSilence(db);
    if (changed !== null && changed > 0) log.info("presence of nodes at work changed", { nodes: changed });
    return changed !== null && changed >= SILENCES_MAX ? 0 : LIMITS.healthLookMs;
  });
  const cleaning = repeat(
    "freeing stuck nodes",
    Math.max(100, maintenanceLimitMs / CLEANUPS_PER_LIMIT),
    log,
    async () => {
      const freed = await freeStuckNodes(db, maintenanceLimitMs);
      if (freed !== null && freed > 0) log.warn("nodes stuck in maintenance freed", { nodes: freed });
    },
  );
  const copies = repeat("looking for copied keys", LIMITS.healthLookMs, log, async () => {
    await lookForCopies(db);
  });
  return {
    async stop() {
      await Promise.all([evaluating.stop(), listening.stop(), cleaning.stop(), copies.stop()]);
    },
  };
}
