/**
 * Prohibitions of the last accepted degraded_mode_policy, where it is not believed any more: its key ended, its trust
 * bundle or bootstrap is damaged, or its own file is (ADR 25).
 *
 * 1. It was verified when it was accepted, and its bytes are those that were accepted. It may only forbid: its authority
 *    counts as ended, so nothing is allowed by it.
 * 2. A policy by a key that was revoked, or of an epoch that is over, is void.
 * 3. Where no whole copy is left, nobody knows what it forbade: it forbids.
 */
import { DegradedPolicyContent } from "../../core/snapshot/contents.ts";
import { digestOf } from "../../trust/digest.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import { isRevokedByBundle } from "./belief.ts";
import type { StoreCore } from "./core.ts";
import type { HeldPolicy } from "./held.ts";
import { scopeIn, type FrameRef } from "./state.ts";

export type BoundPolicy = HeldPolicy | "damaged";

export async function boundPolicy(core: StoreCore, ref: FrameRef): Promise<BoundPolicy | null> {
  const isVoid = ref.epoch !== core.state().epoch || isRevokedByBundle(core, ref.signer_key_ids);
  if (isVoid) return null; // (2)
  const bytes = await core.frames.read(ref.file, (read) => digestOf(read) === ref.file_digest);
  if (bytes === null) return "damaged"; // (3)
  const { policy: body } = DegradedPolicyContent.parse(parseCanonical(decodeFrame(bytes).content));
  if (body === undefined) return null;
  return { body, expiresAt: Math.min(authorityEnd(core, ref), core.time().effective) }; // (1)
}

/** When the authority of an accepted snapshot ends: with itself, its trust bundle or its signing key. */
export function authorityEnd(core: StoreCore, { expires_at, signer_key_ids }: FrameRef): number {
  const bundle = core.held.bundle();
  if (bundle === null) return Math.min(Date.parse(expires_at), core.time().effective);
  const signer = signer_key_ids
    .map((keyId) => bundle.bundle.online_keys.find((key) => key.key_id === keyId))
    .find((key) => key !== undefined);
  return Math.min(Date.parse(expires_at), bundle.expiresAt, keyEnd(core, signer));
}

/** A key that the bundle does not name was retired by it. A fallback bundle may be older than the key. */
function keyEnd(core: StoreCore, signer: { readonly valid_until: string } | undefined): number {
  if (signer !== undefined) return Date.parse(signer.valid_until);
  const { active } = scopeIn(core.state(), "trust_bundle");
  return active === null || core.lost.has("trust_bundle") ? Infinity : Date.parse(active.issued_at);
}
