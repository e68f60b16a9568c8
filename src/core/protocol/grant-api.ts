/** What people who sign in at the OpenID issuer may do, as the operators' API takes and shows it. */
import { z } from "zod";
import { Instant } from "../ids.ts";
import { LIMITS } from "../limits.ts";
import { LineText, LongText } from "../text.ts";
import { Scope } from "./api-key-api.ts";

const subject = { issuer: LineText(500).min(1), subject: LineText(255).min(1) };

export const GrantRequest = z.strictObject({
  ...subject,
  /** Empty: takes all of them away. */
  scopes: z.array(Scope).max(10),
  reason: LongText(LIMITS.reasonCharsMax).optional(),
});
export type GrantRequest = z.infer<typeof GrantRequest>;

export const GrantView = z.object({
  ...subject,
  scopes: z.array(Scope),
  granted_by: z.string(),
  granted_at: Instant,
});
export type GrantView = z.infer<typeof GrantView>;

export const GrantList = z.object({ grants: z.array(GrantView), next_cursor: z.string().nullable() });
export type GrantList = z.infer<typeof GrantList>;
