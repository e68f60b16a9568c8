/** From when to when a new key is believed, and for which scopes. */
import { LIMITS } from "../../core/limits.ts";
import { SCOPES, ScopeType } from "../../core/snapshot/scopes.ts";

const DAY_MS = 24 * 3_600_000;

export const validityFrom = (now: number, validDays: number) => ({
  /** A node whose clock runs behind must not find the key "not valid yet". */
  valid_from: new Date(now - LIMITS.clockSkewMs).toISOString(),
  valid_until: new Date(now + validDays * DAY_MS).toISOString(),
});

export const onlineScopes = (): ScopeType[] =>
  ScopeType.options.filter((scope) => SCOPES[scope].signer === "online");
