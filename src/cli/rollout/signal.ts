/** A signal to a rollout, and where it stands then. */
import { RolloutView } from "../../core/protocol/operator-api.ts";
import { SIGNALS, step } from "../../core/rollout/states.ts";
import type { Api } from "../api.ts";
import type { Call } from "../call.ts";
import { readRollout } from "../resolve.ts";
import { sendSignal } from "../signals/send.ts";
import { takeEffect } from "../signals/take-effect.ts";

interface Wish {
  /** As the path writes it: `approve-canary`. */
  readonly verb: string;
  readonly nodeId?: string;
  readonly intent?: string | null;
}

export async function signalRollout(
  call: Call,
  api: Api,
  before: RolloutView,
  { verb, nodeId, intent = null }: Wish,
): Promise<RolloutView> {
  const node = nodeId === undefined ? "" : `/nodes/${nodeId}`;
  const path = `/api/v1/rollouts/${before.id}${node}/${verb}`;
  const answered = await sendSignal(call, api, path, RolloutView, intent === null ? {} : { intent });
  const signal = SIGNALS.find((kind) => kind.replace("_", "-") === verb);
  const next = signal === undefined ? undefined : step(before.status, signal);
  return takeEffect(before, answered, next, () => readRollout(api, before.id));
}
