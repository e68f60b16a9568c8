/** Whether the intent of a rollout is older than an empty one that outdates it. */
import type { RolloutId } from "../../core/ids.ts";
import { Intent } from "../../core/protocol/intent.ts";
import { decodeFrame } from "../../trust/frame.ts";
import type { Transaction } from "../db/database.ts";

/** Serials grow with time: what outdates a rollout is among the newest. */
const NEWEST_LOOKED_AT = 10;

/** Of a frame that was verified when it was stored. */
export function serialOf(frame: Buffer): number {
  const header = Buffer.from(decodeFrame(frame).header).toString("utf8");
  return Intent.parse(JSON.parse(header)).serial;
}

export const isCalledOff = (row: {
  readonly intent_frame: Buffer | null;
  readonly void_intent_serial: number | null;
}): boolean =>
  row.void_intent_serial !== null &&
  row.intent_frame !== null &&
  serialOf(row.intent_frame) <= row.void_intent_serial;

/** Nodes remember the newest serial of a profile: one of a later rollout outdates those before it. */
export async function isOutdated(
  tx: Transaction,
  row: { readonly id: RolloutId; readonly chain_profile_id: string; readonly intent_frame: Buffer | null },
): Promise<boolean> {
  if (row.intent_frame === null) return false;
  const later = await tx<{ intent_frame: Buffer; void_intent_serial: number | null }[]>`
    select intent_frame, void_intent_serial from rollouts
    where chain_profile_id = ${row.chain_profile_id} and id <> ${row.id} and intent_frame is not null
      and (started_at is not null or void_intent_serial is not null)
    order by created_at desc limit ${NEWEST_LOOKED_AT}`;
  const serial = serialOf(row.intent_frame);
  return later.some((each) => Math.max(serialOf(each.intent_frame), each.void_intent_serial ?? 0) > serial);
}
