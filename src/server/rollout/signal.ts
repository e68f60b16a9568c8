/** An operator's wish about a rollout becomes a row: who, what, why. The next step of the rollout reads it. */
import { randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { SignalRequest } from "../../core/protocol/operator-api.ts";
import type { SignalKind } from "../../core/rollout/states.ts";
import { isCalledOff } from "./called-off.ts";
import type { CreateDeps } from "./create.ts";
import { refuseIllegal, refuseWithoutWindow, type SignalledRollout } from "./refuse-signal.ts";
import { renewIntent } from "./renew-intent.ts";
import { voidIntent } from "./void-intent.ts";

export interface Wish {
  readonly id: RolloutId;
  readonly kind: SignalKind;
  /** For `retry` of one node and for `skip`. */
  readonly nodeId?: NodeId | undefined;
  readonly actor: string;
  readonly request: SignalRequest;
  readonly idempotencyKey: string | undefined;
}

/** Those that go on with what was signed: they may bring a new intent for it. */
const RENEWS: readonly SignalKind[] = ["resume", "approve_canary", "rollback", "retry"];

/** False when the same wish was stored before. */
export async function storeSignal(deps: CreateDeps, wish: Wish): Promise<boolean> {
  const { id, kind, nodeId = null, actor, request, idempotencyKey } = wish;
  const { intent } = request;
  // A key names one wish about one rollout: the same key elsewhere is another wish.
  const key = [id, kind, ...(nodeId === null ? [] : [nodeId]), idempotencyKey ?? randomUUID()].join(":");
  if (intent !== undefined && kind !== "cancel" && !RENEWS.includes(kind)) {
    throw new FairleadError(
      "INVALID_INPUT",
      `intent: ${kind} takes none; ${RENEWS.join(", ")} and cancel do`,
    );
  }
  return deps.db.begin(async (tx) => {
    const [row] = await tx<SignalledRollout[]>`
      select id, group_id, chain_profile_id, status, why, pause_requested, cancel_requested, rollback_requested,
        rollback_allowed, intent_frame, intent_not_after, void_intent_serial
      from rollouts where id = ${id} for update`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", `no rollout ${id}`);
    const [again] = await tx`select 1 from rollout_signals where idempotency_key = ${key}`;
    if (again !== undefined) return false;
    const voided = { id, bytes: intent ?? "", actor, reason: request.reason ?? null };
    const isLate = intent !== undefined && kind === "cancel" && isCancelled(row);
    if (isLate) refuseSecondVoid(row);
    else await refuseIllegal(tx, row, { kind, nodeId });
    if (intent === undefined) await refuseWithoutWindow(tx, row, kind, deps.now());
    else if (kind === "cancel") await voidIntent(tx, deps, voided);
    else {
      const [atWork] =
        await tx`select 1 from rollout_nodes where rollout_id = ${id} and status = 'in_progress' limit 1`;
      if (atWork !== undefined)
        throw new FairleadError("STATE_MOVED", "nodes are at work under the present intent: wait for them");
      await renewIntent(tx, deps, id, intent);
    }
    // The signature of a cancel that took effect before asks the rollout for nothing more.
    await tx`
      insert into rollout_signals (rollout_id, kind, node_id, actor, reason, idempotency_key, consumed_at, applied)
      values (${id}, ${kind}, ${nodeId}, ${actor}, ${request.reason ?? null}, ${key},
        ${isLate ? new Date(deps.now()) : null}, ${isLate ? true : null})`;
    return true;
  });
}

/** By an operator without a release key, or in the console. */
const isCancelled = ({ status, cancel_requested }: SignalledRollout): boolean =>
  status === "cancelled" || cancel_requested;

function refuseSecondVoid(row: SignalledRollout): void {
  const refusal =
    row.intent_frame === null ? "no intent was signed for this rollout" : "it is called off already";
  if (row.intent_frame === null || isCalledOff(row))
    throw new FairleadError("ILLEGAL_TRANSITION", refusal, { status: row.status, signal: "cancel" });
}
