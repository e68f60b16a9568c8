/** Feeds the rollout metrics (ROLL-20): counters from each committed step, gauges from the rows when they are scraped. */
import type { RolloutDecision } from "../../core/rollout/decision.ts";
import type { BatchNode } from "../../core/rollout/rows.ts";
import { ACTIVE_STATUSES, isActive, isSettled } from "../../core/rollout/states.ts";
import type { Database } from "../db/database.ts";
import type { ServerMetrics } from "./server-metrics.ts";

/** A step that has been committed. Times are milliseconds since the epoch. */
export interface CommittedStep {
  readonly chain: string;
  readonly strategy: string;
  readonly startedAt: number | null;
  readonly wasActive: boolean;
  readonly batch: readonly BatchNode[];
  readonly decision: RolloutDecision;
  readonly now: number;
}

/** What the counters take of it: plain data, because steps have a thread of their own. */
export interface StepCounts {
  readonly chain: string;
  readonly strategy: string;
  readonly upgrades: readonly Ended[];
  readonly rollout: Ended | null;
}

interface Ended {
  readonly status: string;
  readonly seconds: number;
}

export function countsOfStep(step: CommittedStep): StepCounts {
  const { chain, strategy, decision, now } = step;
  const before = new Map(step.batch.map((node) => [node.nodeId, node]));
  const upgrades = decision.nodes.flatMap(({ nodeId, status }) => {
    // A node that was skipped was not upgraded, and one that ended before ends only once.
    if (!isSettled(status) || status === "skipped" || before.get(nodeId)?.status === status) return [];
    return [{ status, seconds: (now - (before.get(nodeId)?.launchedAt ?? now)) / 1000 }];
  });
  const { status } = decision.rollout;
  const hasEnded = step.wasActive && !isActive(status);
  const rollout = hasEnded ? { status, seconds: (now - (step.startedAt ?? now)) / 1000 } : null;
  return { chain, strategy, upgrades, rollout };
}

export function countStep(metrics: ServerMetrics, { chain, strategy, upgrades, rollout }: StepCounts): void {
  for (const { status, seconds } of upgrades) {
    metrics.nodeUpgrades.add({ chain, status });
    metrics.nodeUpgradeSeconds.observe({ chain, status }, seconds);
  }
  if (rollout === null) return;
  metrics.rolloutTotal.add({ chain, strategy, status: rollout.status });
  metrics.rolloutSeconds.observe({ chain, strategy, status: rollout.status }, rollout.seconds);
}

export function gaugeRollouts(metrics: ServerMetrics, db: Database): void {
  metrics.beforeScrape(async () => {
    const active = await db<{ id: string; chain: string; total: number; pending: number }[]>`
      select id, chain_profile_id as chain, total_nodes as total, pending_nodes as pending
      from rollouts where status = any(${[...ACTIVE_STATUSES]})`;
    const phases = await db<{ rollout_id: string; chain: string; phase: string; nodes: number }[]>`
      select rn.rollout_id, r.chain_profile_id as chain, rn.upgrade_phase as phase, count(*)::int as nodes
      from rollout_nodes rn join rollouts r on r.id = rn.rollout_id
      where r.status = any(${[...ACTIVE_STATUSES]}) and rn.status = 'in_progress'
        and rn.upgrade_phase is not null
      group by rn.rollout_id, r.chain_profile_id, rn.upgrade_phase`;
    for (const gauge of [metrics.rolloutActive, metrics.rolloutProgress, metrics.rolloutNodePhase])
      gauge.reset();
    for (const [chain, rollouts] of Map.groupBy(active, (rollout) => rollout.chain)) {
      metrics.rolloutActive.set({ chain }, rollouts.length);
    }
    for (const { id, chain, total, pending } of active) {
      metrics.rolloutProgress.set({ chain, rollout_id: id }, total === 0 ? 1 : (total - pending) / total);
    }
    for (const { rollout_id, chain, phase, nodes } of phases) {
      metrics.rolloutNodePhase.set({ chain, rollout_id, phase }, nodes);
    }
  });
}
