/** Whether the intent of a rollout is older than an empty one that outdates it. */
import { Intent } from "../../core/protocol/intent.ts";
import { decodeFrame } from "../../trust/frame.ts";

export function isCalledOff(row: {
  readonly intent_frame: Buffer | null;
  readonly void_intent_serial: number | null;
}): boolean {
  if (row.void_intent_serial === null || row.intent_frame === null) return false;
  const header = Buffer.from(decodeFrame(row.intent_frame).header).toString("utf8");
  return Intent.parse(JSON.parse(header)).serial <= row.void_intent_serial;
}
