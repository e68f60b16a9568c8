/**
 * A wish about a rollout or a group, sent once: an answer that was lost is asked for again under the same key.
 */
import { z, type ZodType } from "zod";
import { LIMITS } from "../../core/limits.ts";
import { sleep } from "../../host/clock.ts";
import type { Api } from "../api.ts";
import type { Call } from "../call.ts";
import { isTransient } from "../events/transient.ts";
import { optionsOf } from "../options.ts";

const AGAIN_AFTER_MS = 500;

const SignalOptions = z.object({
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
  idempotencyKey: z
    .string()
    .regex(/^[\w.:-]{8,200}$/, "8 to 200 letters, digits, dots, colons and dashes")
    .optional(),
});

export async function sendSignal<T>(
  call: Call,
  api: Api,
  path: string,
  schema: ZodType<T>,
  more: object = {},
): Promise<T> {
  const { reason, idempotencyKey } = optionsOf(SignalOptions, call.options);
  const body = { ...(reason === undefined ? {} : { reason }), ...more };
  const key = idempotencyKey ?? call.io.randomUuid();
  const send = (): Promise<T> => api.post(path, body, schema, key);
  try {
    return await send();
  } catch (error) {
    if (!isTransient(error)) throw error;
  }
  await sleep(AGAIN_AFTER_MS);
  return send();
}
