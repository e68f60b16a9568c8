/** A body, parsed at the edge of a route that OpenAPI does not describe. */
import type { z } from "zod";
import { invalidInput } from "./invalid-input.ts";

export function parseBody<T extends z.ZodType>(schema: T, body: unknown): z.infer<T> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  throw invalidInput("body", parsed.error.issues);
}
