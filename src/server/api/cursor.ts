/** Where a list goes on. Opaque to the caller, and checked when it comes back. */
import type { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";

export const encodeCursor = (after: Json): string => Buffer.from(JSON.stringify(after)).toString("base64url");

export function decodeCursor<T extends z.ZodType>(cursor: string, schema: T): z.infer<T> {
  try {
    return schema.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
  } catch {
    throw new FairleadError("INVALID_INPUT", "cursor: not one that this list has given out", {
      field: "cursor",
    });
  }
}
