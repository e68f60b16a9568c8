/**
 * What was verified once is verified again: after a restart, because the disk is not trusted, and whenever a bundle, a
 * bootstrap or a head changed what a key, an epoch, a role or an organization covers.
 *
 * 1. A damaged file falls back to the previous snapshot of its scope, if that one is still in force, and the scope asks
 *    for a full one (SNAP-11). Without its trust bundle a node starts as well: it asks for one.
 * 2. A whole file that is no longer believed is out of force, and nothing older takes its place. It is not deleted.
 * 3. A degraded_mode_policy binds past the end of its trust bundle: after a reboot it is verified as of that end, or the
 *    reboot would start what the policy forbids. Its roles come with the bootstrap. Where it is not believed any more,
 *    it still forbids what it forbade (bound-policy.ts).
 */
import { SCOPES, ScopeType } from "../../core/snapshot/scopes.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { digestOf } from "../../trust/digest.ts";
import { verifyStored } from "../../trust/increment.ts";
import type { SnapshotContext } from "../../trust/snapshot-subject.ts";
import { bundleInForce, contextOf, demoAbroad, lastBundle, oneBelow } from "./belief.ts";
import { boundPolicy } from "./bound-policy.ts";
import type { StoreCore } from "./core.ts";
import type { HeldSnapshot } from "./held.ts";
import { isStoredTwice } from "./layout.ts";
import { scopeIn, type FrameRef } from "./state.ts";

type Read =
  | { readonly kind: "believed"; readonly snapshot: HeldSnapshot }
  | { readonly kind: "damaged" | "not believed" };

/** Roles and organizations come with the bootstrap: it is looked at before the rest. */
const FOLLOWING: readonly ScopeType[] = [
  "node_bootstrap",
  ...ScopeType.options.filter((scope) => SCOPES[scope].signer === "online" && scope !== "node_bootstrap"),
];

const OUTLIVES_BUNDLE: readonly ScopeType[] = ["node_bootstrap", "degraded_mode_policy"];

export const reloadBundle = (core: StoreCore): Promise<void> => reload(core, "trust_bundle");

/** Everything that a bundle, a bootstrap or a head decides about. */
export async function reloadFollowing(core: StoreCore): Promise<void> {
  core.verifiedInForce = bundleInForce(core) !== null;
  for (const scope of FOLLOWING) await reload(core, scope);
}

async function reload(core: StoreCore, scope: ScopeType): Promise<void> {
  const { active, previous } = scopeIn(core.state(), scope);
  core.held.drop(scope);
  if (scope === "degraded_mode_policy") core.bound = null;
  if (active === null) return;
  const found = await read(core, scope, active, whenInForce(core, active));
  core.lost.delete(scope);
  if (scope === "degraded_mode_policy" && found.kind !== "believed")
    core.bound = await boundPolicy(core, active); // (3)
  if (found.kind === "believed") return core.held.put(scope, found.snapshot);
  // Without a bundle nobody is believed: whatever is wrong with it, the same one may come again.
  if (found.kind === "not believed" && scope !== "trust_bundle") return; // (2)
  core.lost.add(scope);
  if (previous === null) return;
  // An expired bundle is not in force, but tells whose signatures counted and which keys it revoked.
  const time =
    scope === "trust_bundle"
      ? whenInForce(core, previous)
      : { local: Infinity, effective: core.time().effective };
  const fallback = await read(core, scope, previous, time);
  if (fallback.kind === "believed") core.held.put(scope, fallback.snapshot); // (1)
}

/** It was accepted in its time; whether it may be used now is asked at each use, and then answered with its own code. */
const whenInForce = (core: StoreCore, { expires_at }: FrameRef): SnapshotContext["time"] => ({
  local: Infinity,
  effective: Math.min(
    core.time().effective,
    Date.parse(expires_at) - 1,
    (core.held.bundle()?.expiresAt ?? Infinity) - 1,
  ),
});

async function read(
  core: StoreCore,
  scope: ScopeType,
  ref: FrameRef,
  time: SnapshotContext["time"],
): Promise<Read> {
  const bytes = await core.frames.read(ref.file, (read) => digestOf(read) === ref.file_digest);
  if (bytes === null) return { kind: "damaged" };
  if (isStoredTwice(scope)) await core.frames.storeTwice(ref.file, bytes);
  const bundle = OUTLIVES_BUNDLE.includes(scope) ? lastBundle(core) : bundleInForce(core); // (3)
  const context = contextOf(core, { bundle, accepted: () => oneBelow(ref), time });
  const result = verifyStored(bytes, scope === "trust_bundle" ? asThen(context, ref) : context);
  if (result.kind === "rejected" || result.header.scope_type !== scope) return { kind: "not believed" };
  if (scope === "trust_bundle" && demoAbroad(TrustBundle.parse(result.content), core.identity) !== null)
    return { kind: "not believed" };
  const { header, content } = result;
  const version = { epoch: ref.epoch, version: ref.version };
  return { kind: "believed", snapshot: { header, content, contentHash: ref.content_hash, version } };
}

/** A bundle is verified by the root set and in the epoch that it found: it may have changed both. */
const asThen = (context: SnapshotContext, { believed_by }: FrameRef): SnapshotContext => ({
  ...context,
  ...(believed_by === undefined ? {} : { root: believed_by.root, epoch: believed_by.epoch }),
  bundle: null,
  previous: null,
});
