/** A page of revocations: its digest stands in a signed head, so its bytes need no signature of their own (SNAP-10). */
import type { Digest } from "../core/ids.ts";
import { RevocationPage, type Revocation } from "../core/snapshot/revocation.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { digestOf } from "./digest.ts";
import { parseCanonical } from "./strict-json.ts";

export interface SealedPage {
  readonly digest: Digest;
  readonly bytes: Buffer;
}

export function sealPage(revoked: readonly Revocation[]): SealedPage {
  const bytes = Buffer.from(canonicalBytes(revoked.map(({ kind, id }) => ({ id, kind }))));
  return { digest: digestOf(bytes), bytes };
}

/** Null when the bytes are not the page that the digest names. */
export function openPage(digest: Digest, bytes: Uint8Array): readonly Revocation[] | null {
  if (digestOf(bytes) !== digest) return null;
  const parsed = RevocationPage.safeParse(parseCanonical(bytes));
  return parsed.success ? parsed.data : null;
}
