/** An operator's wish about a rollout becomes a row: who, what, why. The next step of the rollout reads it. */
import { randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { RolloutId } from "../../core/ids.ts";
import type { SignalRequest } from "../../core/protocol/operator-api.ts";
import { can, type RolloutStatus, type SignalKind } from "../../core/rollout/states.ts";
import type { Transaction } from "../db/database.ts";
import type { CreateDeps } from "./create.ts";
import { renewIntent } from "./renew-intent.ts";
import { voidIntent } from "./void-intent.ts";

export interface Wish {
  readonly id: RolloutId;
  readonly kind: SignalKind;
  readonly actor: string;
  readonly request: SignalRequest;
  readonly idempotencyKey: string | undefined;
}

/** False when the same wish was stored before. */
export async function storeSignal(
  deps: CreateDeps,
  { id, kind, actor, request, idempotencyKey }: Wish,
): Promise<boolean> {
  // A key names one wish about one rollout: the same key elsewhere is another wish.
  const key = `${id}:${kind}:${idempotencyKey ?? randomUUID()}`;
  if (request.intent !== undefined && kind !== "resume" && kind !== "cancel") {
    throw new FairleadError("INVALID_INPUT", `intent: ${kind} takes none; resume and cancel do`);
  }
  return deps.db.begin(async (tx) => {
    const [row] = await tx<{ status: RolloutStatus; pause_requested: boolean }[]>`
      select status, pause_requested from rollouts where id = ${id} for update`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", `no rollout ${id}`);
    const [again] = await tx`select 1 from rollout_signals where idempotency_key = ${key}`;
    if (again !== undefined) return false;
    await refuseIllegal(tx, id, row, kind);
    if (request.intent !== undefined) {
      const take = kind === "resume" ? renewIntent : voidIntent;
      await take(tx, deps, id, request.intent);
    }
    await tx`
      insert into rollout_signals (rollout_id, kind, actor, reason, idempotency_key)
      values (${id}, ${kind}, ${actor}, ${request.reason ?? null}, ${key})`;
    return true;
  });
}

/** Two starts at once, one wins: a signal that waits unread counts as done. */
async function refuseIllegal(
  tx: Transaction,
  id: RolloutId,
  row: { status: RolloutStatus; pause_requested: boolean },
  kind: SignalKind,
): Promise<void> {
  const [same] = await tx`
    select 1 from rollout_signals where rollout_id = ${id} and kind = ${kind} and consumed_at is null`;
  const takesBackPause = kind === "resume" && row.status === "running" && row.pause_requested;
  if (same === undefined && (takesBackPause || can(row.status, kind))) return;
  throw new FairleadError("ILLEGAL_TRANSITION", `a ${row.status} rollout cannot be asked to ${kind}`, {
    status: row.status,
    signal: kind,
  });
}
