/** Snapshots of each kind as the control plane signs them for that node: full, increments, heads. */
import { randomUUID } from "node:crypto";
import { SnapshotId } from "../../src/core/ids.ts";
import type { Json } from "../../src/core/json.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { HeadContent } from "../../src/core/snapshot/head.ts";
import type { DegradedBody } from "../../src/core/snapshot/contents.ts";
import type { IncrementContent } from "../../src/core/snapshot/increment.ts";
import type { NodeRole } from "../../src/core/snapshot/scopes.ts";
import { canonicalBytes } from "../../src/trust/canonical-json.ts";
import { digestOf } from "../../src/trust/digest.ts";
import { signHead } from "../../src/trust/head.ts";
import { signIncrement } from "../../src/trust/increment.ts";
import type { Signer } from "../../src/trust/keys.ts";
import { CLUSTER, HOUR_MS, NODE, NOW, snapshotFrame, type Keys } from "./trust.ts";

export const hashOf = (content: Json) => digestOf(canonicalBytes(content));

const POLICY = "99999999-9999-4999-8999-999999999999";

/** A `route_policy` of one route; `via` tells one version from another. */
export const routes = (
  via: "direct" | "mesh" | "egress" | "drop",
  organization_id: string | null = null,
) => ({
  routes: [
    { policy_id: POLICY, name: "plain", organization_id, destinations: ["10.0.0.0/8"], via, ttl_ms: 1000 },
  ],
});

interface FrameChanges {
  readonly header?: { readonly [field: string]: Json };
  readonly content?: Json;
  readonly signer?: Signer;
}

export const routeFrame = (keys: Keys, config_version: number, changes: FrameChanges = {}): Buffer =>
  snapshotFrame({
    content: changes.content ?? routes("mesh"),
    signers: [changes.signer ?? keys.online],
    header: { scope_type: "route_policy", config_version, ...changes.header },
  });

export function bootstrapFrame(
  keys: Keys,
  config_version: number,
  roles: readonly NodeRole[],
  organization_ids: readonly string[] = [],
  header: { readonly [field: string]: Json } = {},
): Buffer {
  const membership = { node_id: NODE, roles, organization_ids };
  return snapshotFrame({
    content: { membership },
    signers: [keys.online],
    header: { scope_type: "node_bootstrap", config_version, roles, organization_ids, ...header },
  });
}

export const PERMISSIVE: DegradedBody = {
  allowed: [
    "continue_services",
    "preserve_routes",
    "reconnect_peers",
    "validate_peers",
    "use_storage_endpoints",
    "report_status",
  ],
  offline_max_ms: 10 * HOUR_MS,
  route_ttl_ms: HOUR_MS,
  session_ttl_ms: 2 * HOUR_MS,
  when_partitioned: "continue",
};

export const policyFrame = (
  keys: Keys,
  config_version: number,
  body: DegradedBody = PERMISSIVE,
  header: { readonly [field: string]: Json } = {},
): Buffer =>
  snapshotFrame({
    content: { policy: { policy_id: POLICY, name: "plain", organization_id: null, ...body } },
    signers: [keys.online],
    header: { scope_type: "degraded_mode_policy", config_version, ...header },
  });

interface Step {
  readonly base: number;
  readonly next: number;
  readonly from: Json;
  readonly to: Json;
  readonly content?: IncrementContent;
  readonly signer?: Signer;
}

/** Of `route_policy`, by whole sections unless told otherwise. */
export const routeIncrement = (keys: Keys, { base, next, from, to, content, signer }: Step): Buffer =>
  signIncrement(
    {
      snapshotId: SnapshotId.parse(randomUUID()),
      clusterId: CLUSTER,
      subject: NODE,
      scope: "route_policy",
      roles: ["egress_service"],
      version: next,
      epoch: 1,
      issuedAt: NOW,
      lifetimeMs: 24 * HOUR_MS,
      base: { version: base, contentHash: hashOf(from) },
      resultHash: hashOf(to),
      content: content ?? { kind: "sections", sections: to as never },
    },
    [signer ?? keys.online],
  ).frame;

export interface HeadWish {
  readonly scopes?: HeadContent["scopes"];
  readonly revoked?: HeadContent["revoked"];
  readonly pages?: HeadContent["revoked_pages"];
  readonly issuedAt?: number;
  readonly epoch?: number;
  readonly signer?: Signer;
}

export const headFrame = (keys: Keys, wish: HeadWish = {}): Buffer =>
  signHead(
    {
      clusterId: CLUSTER,
      nodeId: NODE,
      epoch: wish.epoch ?? 1,
      issuedAt: wish.issuedAt ?? NOW,
      lifetimeMs: LIMITS.headLifetimeMs,
      content: {
        scopes: wish.scopes ?? {},
        revoked: wish.revoked ?? [],
        ...(wish.pages === undefined ? {} : { revoked_pages: wish.pages }),
      },
    },
    [wish.signer ?? keys.online],
  );
