/** The eight actions, their order, budgets and phases: one table that agent, server and console read (ROLL-4, ROLL-7). */
import { z } from "zod";

export const UPGRADE_PHASES = ["PREPARING", "STOPPED", "MUTATING", "STARTING", "VERIFYING"] as const;
export const UpgradePhase = z.enum(UPGRADE_PHASES);
export type UpgradePhase = z.infer<typeof UpgradePhase>;

interface ActionEntry {
  readonly name: string;
  readonly timeoutMs: number;
  readonly phase: UpgradePhase;
}

export const UPGRADE_ACTIONS = [
  { name: "backup_state", timeoutMs: 60_000, phase: "PREPARING" },
  { name: "acquire_artifact", timeoutMs: 300_000, phase: "PREPARING" },
  { name: "verify_artifact", timeoutMs: 30_000, phase: "PREPARING" },
  { name: "stop_node", timeoutMs: 60_000, phase: "STOPPED" },
  { name: "install_artifact", timeoutMs: 30_000, phase: "MUTATING" },
  { name: "write_configs", timeoutMs: 30_000, phase: "MUTATING" },
  { name: "reload_daemon", timeoutMs: 10_000, phase: "MUTATING" },
  { name: "start_node", timeoutMs: 30_000, phase: "STARTING" },
] as const satisfies readonly ActionEntry[];

export type ActionName = (typeof UPGRADE_ACTIONS)[number]["name"];
export const ActionName = z.enum(UPGRADE_ACTIONS.map((action) => action.name));

/** Where an upgrade stands, as the agent reports it. */
export const UpgradeProgress = z.object({
  phase: UpgradePhase,
  action_index: z
    .int()
    .min(0)
    .max(UPGRADE_ACTIONS.length - 1),
  action_name: ActionName,
  progress_pct: z.int().min(0).max(100),
});
export type UpgradeProgress = z.infer<typeof UpgradeProgress>;

export function progressAt(index: number): UpgradeProgress {
  const action = UPGRADE_ACTIONS[index]!;
  return {
    phase: action.phase,
    action_index: index,
    action_name: action.name,
    progress_pct: Math.floor((index * 100) / UPGRADE_ACTIONS.length),
  };
}

/** Null: no action, or none of these. */
export function actionIndexOf(name: string | null): number | null {
  const index = UPGRADE_ACTIONS.findIndex((action) => action.name === name);
  return index < 0 ? null : index;
}

export const AgentVerdict = z.enum(["COMPLETED", "FAILED", "FAILED_ROLLBACK"]);
export type AgentVerdict = z.infer<typeof AgentVerdict>;
