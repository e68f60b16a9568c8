/** What a frame says of itself, before anything about it is believed: enough to sort by and to look up a base. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { ScopeType } from "../../core/snapshot/scopes.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { parseCanonical } from "../../trust/strict-json.ts";

const Claims = z.looseObject({ scope_type: ScopeType, base_config_version: z.int().optional() });

export interface FrameClaims {
  readonly scope: ScopeType;
  readonly kind: "snapshot" | "increment";
}

/** Null for bytes that say nothing: the checks will say why. */
export function claimsOf(bytes: Uint8Array): FrameClaims | null {
  try {
    const claims = Claims.safeParse(parseCanonical(decodeFrame(bytes).header));
    if (!claims.success) return null;
    const { scope_type: scope, base_config_version: base } = claims.data;
    return { scope, kind: base === undefined ? "snapshot" : "increment" };
  } catch (error) {
    if (error instanceof FairleadError) return null;
    throw error;
  }
}
