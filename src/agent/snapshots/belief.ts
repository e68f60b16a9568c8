/** Whom this node believes now, and as whom: everything that the checks of a snapshot compare with. */
import { KeyId } from "../../core/ids.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { RevocationKind } from "../../core/snapshot/revocation.ts";
import type { ScopeType } from "../../core/snapshot/scopes.ts";
import type { RootSet, TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { SnapshotContext, SnapshotRejection } from "../../trust/snapshot-subject.ts";
import type { Identity } from "../identity/store.ts";
import { isLoopbackHost } from "../programs/loopback.ts";
import type { StoreCore } from "./core.ts";
import type { Membership } from "./held.ts";
import { scopeIn } from "./state.ts";

/**
 * An expired trust bundle is believed no more, but what it settled stays: its root set, what it revoked, and that
 * intents are required. Waiting for it to expire wins nothing.
 */
export function bundleInForce({ held, time }: StoreCore): TrustBundle | null {
  const last = held.bundle();
  return last !== null && last.expiresAt > time().effective ? last.bundle : null;
}

/** The last one accepted, expired or not: for what was accepted while it was in force. */
export const lastBundle = ({ held }: StoreCore): TrustBundle | null => held.bundle()?.bundle ?? null;

/** By the newest trust bundle that can be read, expired or not. */
export const isRevokedByBundle = (core: StoreCore, signers: readonly KeyId[]): boolean =>
  signers.some((keyId) => lastBundle(core)?.revoked_keys.includes(keyId) === true);

/** The newest root set that was accepted, also when its bundle's file is damaged; before the first, the enrollment's. */
export const rootOf = ({ identity, state }: StoreCore): RootSet => state().root ?? identity.root;

const revokedIds = ({ revoked }: StoreCore, kind: RevocationKind): string[] =>
  revoked.list.filter((each) => each.kind === kind).map(({ id }) => id);

export const revokedKeys = (core: StoreCore): KeyId[] =>
  revokedIds(core, "signing_key").filter((id): id is KeyId => KeyId.safeParse(id).success);

/** Before the first bootstrap the enrollment's roles count; after it only a bootstrap's that is in force. */
export function membershipOf(core: StoreCore): Membership {
  const { identity, held, state } = core;
  const enrolled: Membership = { roles: identity.roles, organizationIds: [] };
  const nobody: Membership = { roles: [], organizationIds: [] };
  const before = scopeIn(state(), "node_bootstrap").accepted === null ? enrolled : nobody;
  const { roles, organizationIds } = held.membership() ?? before;
  const revoked = revokedIds(core, "role_assignment");
  return { roles: roles.filter((role) => !revoked.includes(role)), organizationIds };
}

type Accepted = (scope: ScopeType) => SnapshotVersion | null;

/** What may come: newer than what was ever taken, or, where its file is damaged, exactly that again. */
const acceptedBefore =
  ({ state, lost }: StoreCore): Accepted =>
  (scope) => {
    const { accepted } = scopeIn(state(), scope);
    return accepted !== null && lost.has(scope) ? oneBelow(accepted) : accepted;
  };

export const oneBelow = ({ epoch, version }: SnapshotVersion): SnapshotVersion => ({
  epoch,
  version: version - 1,
});

export function contextOf(core: StoreCore, changes: Partial<SnapshotContext> = {}): SnapshotContext {
  const { identity, state } = core;
  return {
    clusterId: identity.cluster_id,
    nodeId: identity.node_id,
    ...membershipOf(core),
    root: rootOf(core),
    bundle: bundleInForce(core),
    previous: lastBundle(core),
    epoch: state().epoch,
    revokedKeys: revokedKeys(core),
    accepted: acceptedBefore(core),
    time: core.time(),
    ...changes,
  };
}

const DEMO_ABROAD: SnapshotRejection = {
  kind: "rejected",
  step: 11,
  code: "BUNDLE_REFUSED",
  field: "demo",
  reason: "a demo trust bundle is for loopback only",
  scope: "trust_bundle",
};

/** The one rule that is about the machine and not about the bytes. */
export function demoAbroad(bundle: TrustBundle, { agent_url }: Identity): SnapshotRejection | null {
  return bundle.demo && !isLoopbackHost(new URL(agent_url).hostname) ? DEMO_ABROAD : null;
}
