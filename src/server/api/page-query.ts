/** How every list is asked for its pages. */
import { z } from "zod";
import { LIMITS } from "../../core/limits.ts";

const pageDefault = 100;

export const pageQuery = {
  limit: z.coerce.number().int().min(1).max(LIMITS.listPageMax).default(pageDefault),
  cursor: z.string().min(1).max(1_000).exactOptional(),
};
