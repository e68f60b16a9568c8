// A first trust bundle as `fairlead init` makes it, with room for a test to spoil it.

import { randomUUID } from "node:crypto";
import { SnapshotId, type ClusterId } from "../../../src/core/ids.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { signSnapshot, type SnapshotDraft } from "../../../src/trust/snapshot.ts";

const YEAR_MS = 365 * 24 * 3_600_000;

export interface BundleParts {
  readonly clusterId: ClusterId;
  readonly root: Signer;
  readonly online: Signer;
}

export function signTrustBundle(
  { clusterId, root, online }: BundleParts,
  {
    bundle = {},
    draft = {},
    signers = [root],
  }: {
    bundle?: Partial<TrustBundle>;
    draft?: Partial<SnapshotDraft>;
    signers?: readonly [Signer, ...Signer[]];
  } = {},
): { readonly frame: Buffer; readonly content: TrustBundle } {
  const now = Date.now();
  const content: TrustBundle = {
    demo: false,
    intents_required: true,
    root: { threshold: 1, keys: [root.record] },
    online_keys: [
      {
        ...online.record,
        valid_from: new Date(now - 60_000).toISOString(),
        valid_until: new Date(now + YEAR_MS).toISOString(),
        scopes: ["service_assignment"],
      },
    ],
    release_keys: [],
    publisher_keys: [],
    revoked_keys: [],
    recovery: null,
    ...bundle,
  };
  const bytes = canonicalBytes(content);
  const { frame } = signSnapshot(
    {
      snapshotId: SnapshotId.parse(randomUUID()),
      clusterId,
      subject: "shared",
      scope: "trust_bundle",
      roles: [],
      version: 1,
      epoch: 1,
      issuedAt: now - 1_000,
      lifetimeMs: YEAR_MS,
      content: { content_hash: digestOf(bytes), bytes }, // as it is: what a signer would refuse, somebody else signs
      ...draft,
    },
    signers,
  );
  return { frame, content };
}
