/** What the snapshots in force say, in memory. What is out of force is not here, though its file stays on disk. */
import type { Digest } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import {
  DegradedPolicyContent,
  NodeBootstrapContent,
  type DegradedBody,
} from "../../core/snapshot/contents.ts";
import type { SnapshotHeader, SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { NodeRole, ScopeType } from "../../core/snapshot/scopes.ts";
import { ServiceAssignmentContent } from "../../core/snapshot/service-assignment.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";

export interface HeldSnapshot {
  readonly header: SnapshotHeader;
  readonly content: Json;
  readonly contentHash: Digest;
  readonly version: SnapshotVersion;
}

export interface HeldAssignment {
  readonly header: Pick<SnapshotHeader, "config_version" | "expires_at">;
  readonly content: ServiceAssignmentContent;
}

export interface HeldBundle {
  readonly bundle: TrustBundle;
  readonly expiresAt: number;
}

export interface HeldPolicy {
  readonly body: DegradedBody;
  readonly expiresAt: number;
}

export interface Membership {
  readonly roles: readonly NodeRole[];
  readonly organizationIds: readonly string[];
}

export function createHeld() {
  const scopes = new Map<ScopeType, HeldSnapshot>();
  let bundle: HeldBundle | null = null;
  return {
    get: (scope: ScopeType): HeldSnapshot | null => scopes.get(scope) ?? null,
    put(scope: ScopeType, held: HeldSnapshot): void {
      scopes.set(scope, held);
      if (scope === "trust_bundle")
        bundle = { bundle: TrustBundle.parse(held.content), expiresAt: Date.parse(held.header.expires_at) };
    },
    drop(scope: ScopeType): void {
      scopes.delete(scope);
      if (scope === "trust_bundle") bundle = null;
    },
    /** The last one accepted, expired or not. */
    bundle: (): HeldBundle | null => bundle,
    assignment(): HeldAssignment | null {
      const held = scopes.get("service_assignment");
      if (held === undefined) return null;
      return { header: held.header, content: ServiceAssignmentContent.parse(held.content) };
    },
    policy(): HeldPolicy | null {
      const held = scopes.get("degraded_mode_policy");
      if (held === undefined) return null;
      const { policy: body } = DegradedPolicyContent.parse(held.content);
      return body === undefined ? null : { body, expiresAt: Date.parse(held.header.expires_at) };
    },
    membership(): Membership | null {
      const held = scopes.get("node_bootstrap");
      if (held === undefined) return null;
      const { membership } = NodeBootstrapContent.parse(held.content);
      if (membership === undefined) return null;
      return { roles: membership.roles, organizationIds: membership.organization_ids };
    },
  };
}
