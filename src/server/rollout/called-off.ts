/** Whether the intent of a rollout is older than an empty one that outdates it. */
import { Intent } from "../../core/protocol/intent.ts";
import { decodeFrame } from "../../trust/frame.ts";

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
