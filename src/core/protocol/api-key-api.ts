/** API keys as the operators' API takes and shows them. A key itself is answered once; its hash is in none of it. */
import { z } from "zod";
import { Instant, Name, Uuid } from "../ids.ts";
import { LIMITS } from "../limits.ts";

export const SCOPES = ["admin"] as const;
export const Scope = z.enum(SCOPES);
export type Scope = z.infer<typeof Scope>;

export const ApiKeyId = Uuid.brand<"ApiKeyId">();
export type ApiKeyId = z.infer<typeof ApiKeyId>;

export const ApiKeyView = z.object({
  id: ApiKeyId,
  name: z.string(),
  scopes: z.array(Scope),
  created_at: Instant,
  revoked_at: Instant.nullable(),
});
export type ApiKeyView = z.infer<typeof ApiKeyView>;
export const ApiKeyList = z.object({
  keys: z.array(ApiKeyView),
  next_cursor: z.string().nullable(),
});
export type ApiKeyList = z.infer<typeof ApiKeyList>;

export const ApiKeyCreate = z.strictObject({
  /** Stands in events as `key:<name>`, so that of two live keys no two share one. */
  name: Name,
  scopes: z.array(Scope).max(SCOPES.length),
});
export type ApiKeyCreate = z.infer<typeof ApiKeyCreate>;

/** `api_key` is what its holder signs in with: nobody sees it again. */
export const ApiKeyCreated = z.object({ key: ApiKeyView, api_key: z.string() });
export type ApiKeyCreated = z.infer<typeof ApiKeyCreated>;

export const ApiKeyRevoke = z.strictObject({
  /** Also when it is the last key with the scope admin. */
  force: z.boolean().default(false),
  reason: z.string().max(LIMITS.reasonCharsMax).optional(),
});
export type ApiKeyRevoke = z.infer<typeof ApiKeyRevoke>;
