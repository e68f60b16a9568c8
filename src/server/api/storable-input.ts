/** Parameters, queries and bodies hold only text that PostgreSQL can store, in every field of every route. */
import type { FastifyInstance } from "fastify";
import { FairleadError } from "../../core/errors.ts";
import { isStorable } from "../../core/text.ts";

/** After the schemas: they say it better where they know the field. */
export function refuseUnstorableInput(app: FastifyInstance): void {
  app.addHook("preHandler", async ({ params, query, body }) => {
    const field =
      unstorableIn(params, "params") ?? unstorableIn(query, "querystring") ?? unstorableIn(body, "body");
    if (field === null) return;
    throw new FairleadError("INVALID_INPUT", `${field}: a NUL and a lone surrogate are refused`, { field });
  });
}

/** The place of the first such text; null when there is none. Its own name is not shown: it may be the fault. */
function unstorableIn(value: unknown, place: string): string | null {
  if (typeof value === "string") return isStorable(value) ? null : place;
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return null;
  for (const [key, inner] of Object.entries(value)) {
    if (!isStorable(key)) return place;
    const found = unstorableIn(inner, `${place}.${key}`);
    if (found !== null) return found;
  }
  return null;
}
