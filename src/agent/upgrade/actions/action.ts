/** An action says what happens and how it is undone; how is the adapter's business, when is the executor's (ROLL-4). */
import type { ActionName } from "../../../core/upgrade/phases.ts";
import { UPGRADE_ACTIONS } from "../../../core/upgrade/phases.ts";
import type { BackupRef } from "../backup/manifest.ts";
import type { Plan } from "../plan.ts";
import type { RuntimeAdapter } from "../port.ts";
import type { StagedConfigs } from "../staged-configs.ts";

export interface ActionContext {
  readonly adapter: RuntimeAdapter;
  readonly plan: Plan;
  readonly configs: StagedConfigs;
  /** What actions learn for those after them; kept in the checkpoint. */
  readonly facts: { backup: BackupRef | null };
  readonly signal: AbortSignal;
}

export interface UpgradeAction {
  readonly name: ActionName;
  readonly timeoutMs: number;
  isDone(context: ActionContext): Promise<boolean>;
  run(context: ActionContext): Promise<void>;
  compensate(context: ActionContext): Promise<void>;
}

/** Name and budget come from the one table that server and console read too. */
export function action(
  name: ActionName,
  parts: Pick<UpgradeAction, "isDone" | "run" | "compensate">,
): UpgradeAction {
  const { timeoutMs } = UPGRADE_ACTIONS.find((entry) => entry.name === name)!;
  return { name, timeoutMs, ...parts };
}

export const never = async (): Promise<boolean> => false;
export const nothing = async (): Promise<void> => undefined;
