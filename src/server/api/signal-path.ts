/** Signals as paths: one POST each, told apart by a key when the same wish comes twice. */
import { z } from "zod";

/** A caller that may ask twice for one wish sends the same key with both. */
export const signalHeaders = z.object({ "idempotency-key": z.string().min(8).max(200).exactOptional() });

export const pathOf = (signal: string): string => signal.replaceAll("_", "-");
