/** The first trust bundle of a site: which keys its nodes will believe, and for what. Signed by the root alone. */
import type { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { NodeId, SnapshotId } from "../../core/ids.ts";
import type { BootstrapResponse } from "../../core/protocol/operator-api.ts";
import { SHARED_SUBJECT } from "../../core/snapshot/envelope.ts";
import { SCOPES, ScopeType } from "../../core/snapshot/scopes.ts";
import type { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Signer } from "../../trust/keys.ts";
import { signSnapshot } from "../../trust/snapshot.ts";
import { checkBundleRules } from "../../trust/trust-bundle-rules.ts";
import { verifySnapshot } from "../../trust/verify-snapshot.ts";

export const FIRST_BUNDLE_VERSION = 1;
const FIRST_EPOCH = 1;
/** A node whose clock runs behind must not find the bundle "not yet valid". */
const CLOCK_SKEW_MS = 5 * 60_000;
const DAY_MS = 24 * 3_600_000;

export interface BundleWish {
  readonly site: z.infer<typeof BootstrapResponse>;
  readonly roots: readonly Signer[];
  readonly threshold: number;
  readonly release: Signer;
  readonly demo: boolean;
  readonly requireIntents: boolean;
  readonly validDays: number;
  readonly now: number;
  readonly snapshotId: string;
}

function composeBundle(wish: BundleWish): TrustBundle {
  const valid_from = new Date(wish.now - CLOCK_SKEW_MS).toISOString();
  const valid_until = new Date(wish.now + wish.validDays * DAY_MS).toISOString();
  const scopes = ScopeType.options.filter((scope) => SCOPES[scope].signer === "online");
  return {
    demo: wish.demo,
    intents_required: wish.requireIntents,
    root: { threshold: wish.threshold, keys: wish.roots.map((root) => root.record) },
    online_keys: [{ ...wish.site.online_key, valid_from, valid_until, scopes }],
    release_keys: [{ ...wish.release.record, valid_from, valid_until, name: "release", profiles: [] }],
    publisher_keys: [],
    revoked_keys: [],
    recovery: null,
  };
}

/** Verified before it leaves: what no agent would accept is not uploaded. */
export function signBundle(wish: BundleWish): { bundle: TrustBundle; frame: Buffer } {
  const bundle = composeBundle(wish);
  const failure = checkBundleRules(bundle, null);
  if (failure !== null) throw new FairleadError("BUNDLE_REFUSED", `${failure.field}: ${failure.reason}`);
  const [first, ...rest] = wish.roots.slice(0, wish.threshold);
  if (first === undefined) throw new FairleadError("INTERNAL", "a bundle needs a root key");
  const { frame } = signSnapshot(
    {
      snapshotId: SnapshotId.parse(wish.snapshotId),
      clusterId: wish.site.cluster_id,
      subject: SHARED_SUBJECT,
      scope: "trust_bundle",
      roles: [],
      version: FIRST_BUNDLE_VERSION,
      epoch: FIRST_EPOCH,
      issuedAt: wish.now - CLOCK_SKEW_MS,
      lifetimeMs: wish.validDays * DAY_MS + CLOCK_SKEW_MS,
      content: bundle,
    },
    [first, ...rest],
  );
  refuseUnverifiable(frame, bundle, wish);
  return { bundle, frame };
}

function refuseUnverifiable(frame: Buffer, bundle: TrustBundle, { site, now }: BundleWish): void {
  const verdict = verifySnapshot(frame, {
    clusterId: site.cluster_id,
    nodeId: NodeId.parse(site.cluster_id), // any id: the subject is shared
    roles: [],
    organizationIds: [],
    epoch: null,
    root: bundle.root,
    bundle: null,
    accepted: () => null,
    time: { local: now, effective: now },
  });
  if (verdict.kind === "rejected")
    throw new FairleadError("BUNDLE_REFUSED", `${verdict.field}: ${verdict.reason}`);
}
