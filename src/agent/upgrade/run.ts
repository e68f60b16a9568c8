/** One job under way: what forward and backward share. */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import type { ActionName, UpgradeProgress } from "../../core/upgrade/phases.ts";
import type { Clock } from "../../host/clock.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import type { Logger } from "../../host/log.ts";
import type { ActionContext } from "./actions/action.ts";
import { type Checkpoint, type Failure, saveCheckpoint } from "./checkpoints.ts";
import type { RuntimeAdapter } from "./port.ts";

export interface UpgradeDeps {
  readonly adapter: RuntimeAdapter;
  readonly stateDir: string;
  readonly clock: Clock;
  readonly log: Logger;
  /** Waited for, so it should return soon; its failure is logged and changes nothing. */
  readonly onProgress: (progress: UpgradeProgress) => void | Promise<void>;
  /** Throws to forbid an action: nothing has stopped yet before `stop_node`, which is where authority is asked for. */
  readonly beforeAction?: (name: ActionName) => void | Promise<void>;
  /** Waits before an action that failed for a moment is tried again; none unless said. */
  readonly retryAfterMs?: readonly number[];
  readonly fetchConfig: (ref: ConfigRef) => Promise<Uint8Array>;
  /** The agent is leaving: the job stays as it is and is resumed by the next one. */
  readonly signal?: AbortSignal;
  readonly fs?: FileSystemPort;
}

export interface UpgradeRun {
  readonly deps: UpgradeDeps;
  readonly leaving: AbortSignal;
  readonly context: Omit<ActionContext, "signal">;
  readonly checkpoint: Checkpoint;
  save(change: Partial<Checkpoint>): Promise<void>;
}

export function openRun(deps: UpgradeDeps, first: Checkpoint, configs: ActionContext["configs"]): UpgradeRun {
  let checkpoint = first;
  return {
    deps,
    leaving: deps.signal ?? new AbortController().signal,
    context: { adapter: deps.adapter, plan: first.plan, configs, facts: first.facts },
    get checkpoint() {
      return checkpoint;
    },
    async save(change) {
      checkpoint = { ...checkpoint, ...change };
      await saveCheckpoint(deps.stateDir, checkpoint, deps.fs);
    },
  };
}

export const isoNow = (clock: Clock): string => new Date(clock.now()).toISOString();

/** An error as it is reported: ours keeps its code, anything else gets the one that fits the place. */
export function failureOf(
  error: unknown,
  action: ActionName | null,
  otherwise: ErrorCode = "ACTION_FAILED",
): Failure {
  const message = error instanceof Error ? error.message : String(error);
  return { code: error instanceof FairleadError ? error.code : otherwise, message, action };
}
