/** The compiler's own refusal, before anything is signed (SNAP-3, SNAP-5): what no node would accept gets no hash. */
import { FairleadError } from "../core/errors.ts";
import type { Digest } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import { scopeIdsOf } from "../core/snapshot/scope-ids.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { checkContent, readContent } from "./content-schemas.ts";
import { digestOf } from "./digest.ts";
import { findSecret } from "./find-secret.ts";

/** Canonical bytes and their hash: the same content for many nodes is sealed once. */
export interface SealedContent {
  readonly content_hash: Digest;
  readonly bytes: Buffer;
  /** What it is about, for the envelope; absent in what has no scope. */
  readonly scope_ids?: readonly string[];
}

export function sealContent(scope: ScopeType, content: Json): SealedContent {
  const bytes = canonicalBytes(content);
  if (readContent(scope, bytes) === null) refuseInvalid(scope, content);
  if (bytes.length > LIMITS.snapshotContentBytesMax) {
    const bound = LIMITS.snapshotContentBytesMax;
    throw new FairleadError("SNAPSHOT_TOO_LARGE", `${scope}: ${bytes.length} bytes of at most ${bound}`, {
      scope,
      bytes: bytes.length,
    });
  }
  return { content_hash: digestOf(bytes), bytes, scope_ids: scopeIdsOf(scope, content) };
}

function refuseInvalid(scope: ScopeType, content: Json): void {
  const failure = checkContent(scope, content, null);
  if (failure !== null) {
    const { field, reason } = failure;
    throw new FairleadError("SNAPSHOT_CONTENT_INVALID", `${scope}, ${field}: ${reason}`, { scope, field });
  }
  const secret = findSecret(content);
  if (secret !== null) {
    const { path, looksLike } = secret;
    throw new FairleadError("SNAPSHOT_SECRET_FOUND", `${scope}, ${path}: it looks like ${looksLike}`, {
      scope,
      path,
    });
  }
}

export const isSealed = (content: Json | SealedContent): content is SealedContent =>
  typeof content === "object" &&
  content !== null &&
  "bytes" in content &&
  content.bytes instanceof Uint8Array;
