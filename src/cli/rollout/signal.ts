/** A signal to a rollout, and its state with the signal applied. */
import { RolloutView } from "../../core/protocol/operator-api.ts";
import { SIGNALS, step, type SignalKind } from "../../core/rollout/states.ts";
import type { Api } from "../api.ts";
import type { Call } from "../call.ts";
import { readRollout } from "../resolve.ts";
import { sendSignal } from "../signals/send.ts";
import { effectText, takeEffect } from "../signals/take-effect.ts";
import { standing } from "./standing.ts";

interface Wish {
  /** As the path writes it: `approve-canary`. */
  readonly verb: string;
  readonly nodeId?: string;
  readonly intent?: string | null;
}

interface SignalledRollout {
  readonly rollout: RolloutView;
  /** The end of a sentence about the signal. */
  readonly effect: string;
}

export async function signalRollout(
  call: Call,
  api: Api,
  before: RolloutView,
  { verb, nodeId, intent = null }: Wish,
): Promise<SignalledRollout> {
  const node = nodeId === undefined ? "" : `/nodes/${nodeId}`;
  const path = `/api/v1/rollouts/${before.id}${node}/${verb}`;
  const answered = await sendSignal(call, api, path, RolloutView, intent === null ? {} : { intent });
  const signal = SIGNALS.find((kind) => kind.replace("_", "-") === verb);
  const isApplied = (now: RolloutView): boolean => signal === undefined || shows(signal, before, now);
  const effect = await takeEffect(answered, isApplied, () => readRollout(api, before.id));
  return { rollout: effect.now, effect: effectText(standing(effect.now), effect.isApplied) };
}

/** Signals that a running rollout carries until the batch boundary. */
const CARRIED: { readonly [S in SignalKind]?: (now: RolloutView) => boolean } = {
  pause: (now) => now.pause_requested,
  cancel: (now) => now.cancel_requested,
  rollback: (now) => now.rollback_requested,
  force: (now) => now.force_continue,
};

/** Whether a rollout's state can be one after the signal. A retry and a skip change nodes and leave no trace in it. */
function shows(signal: SignalKind, before: RolloutView, now: RolloutView): boolean {
  const next = step(before.status, signal);
  const carried = CARRIED[signal];
  if (now.status !== before.status || next === undefined) return true;
  return carried === undefined ? next === before.status : carried(now);
}
