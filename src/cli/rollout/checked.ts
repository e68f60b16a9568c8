import type { z } from "zod";
import { FairleadError } from "../../core/errors.ts";

/** What the server would refuse is refused here, and its field is named. */
export function checked<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const { path, message } = parsed.error.issues[0]!;
  throw new FairleadError("INVALID_INPUT", `${path.join(".")}: ${message}`, { field: path.join(".") });
}
