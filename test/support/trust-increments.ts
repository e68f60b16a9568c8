/** Versions of one scope as full snapshots and as increments between them, for tests of both ways. */
import { SnapshotId } from "../../src/core/ids.ts";
import type { Json } from "../../src/core/json.ts";
import type { IncrementHeader } from "../../src/core/snapshot/increment.ts";
import { canonicalBytes } from "../../src/trust/canonical-json.ts";
import { digestOf, digestOfJson } from "../../src/trust/digest.ts";
import { signFrame } from "../../src/trust/frame.ts";
import type { ActiveContent, IncrementDraft } from "../../src/trust/increment.ts";
import { incrementBetween } from "../../src/trust/increment-changes.ts";
import { envelopeOf, type Signers } from "../../src/trust/snapshot.ts";
import { CLUSTER, HOUR_MS, NODE, NOW } from "./trust-names.ts";

export const envelopeFor = (version: number): Omit<IncrementDraft, "base" | "resultHash" | "content"> => ({
  snapshotId: SnapshotId.parse("55555555-5555-4555-8555-555555555555"),
  clusterId: CLUSTER,
  subject: NODE,
  scope: "peer_directory",
  roles: ["core_mesh"],
  version,
  epoch: 1,
  issuedAt: NOW,
  lifetimeMs: HOUR_MS,
});

export const activeOf = (version: number, content: Json, epoch = 1): ActiveContent => ({
  version: { epoch, version },
  contentHash: digestOfJson(content),
  content,
});

export const incrementDraft = (version: number, before: Json, after: Json): IncrementDraft => ({
  ...envelopeFor(version),
  base: { version: version - 1, contentHash: digestOfJson(before) },
  resultHash: digestOfJson(after),
  content: incrementBetween(before, after)!,
});

/** Signs any header over any changes, also what `signIncrement` would never make. */
export function incrementFrame(
  draft: Omit<IncrementDraft, "content"> & { readonly content: Json },
  signers: Signers,
  changes: { readonly [field: string]: Json } = {},
): Buffer {
  const content = canonicalBytes(draft.content);
  const header: IncrementHeader = {
    ...envelopeOf(draft, digestOf(content), signers),
    base_config_version: draft.base.version,
    base_content_hash: draft.base.contentHash,
    next_config_version: draft.version,
    result_content_hash: draft.resultHash,
  };
  return signFrame("fairlead/increment/v1", { ...header, ...changes }, content, signers);
}
