/**
 * May these bytes take force here, now? The trust layer's checks in this node's context, then what is the node's own:
 * new roots and new roles are sensitive actions, and whoever hands them in says whether they may be taken now (SNAP-9).
 */
import { unreachable } from "../../core/errors.ts";
import type { Action } from "../../core/degraded/actions.ts";
import type { Gate } from "../../core/degraded/gate.ts";
import type { Digest } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import { NodeBootstrapContent } from "../../core/snapshot/contents.ts";
import { versionOf, type SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { contentHashOf } from "../../core/snapshot/increment.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { verifyIncrement } from "../../trust/increment.ts";
import { rootPinOf } from "../../trust/pins.ts";
import { verifySnapshot, type SnapshotRejection } from "../../trust/verify-snapshot.ts";
import { contextOf, demoAbroad, membershipOf, rootOf } from "./belief.ts";
import { claimsOf } from "./claims.ts";
import type { StoreCore } from "./core.ts";
import type { HeldSnapshot } from "./held.ts";

export type DownloadKind = "snapshot" | "increment";
export type Admit = (action: Action) => Promise<Gate>;

/** For bytes that come from nowhere in particular, such as from a disk after a crash. */
export const nobodyThere: Admit = async (action) => ({
  kind: "closed",
  code: "DEGRADED_FORBIDDEN",
  reason: `${action} is never done without the control plane`,
});

export interface Verified {
  readonly kind: "accepted";
  readonly header: SnapshotHeader;
  readonly content: Json;
  readonly contentHash: Digest;
  /** What the active file holds: the download itself, or the result of an increment under its signatures. */
  readonly stored: Uint8Array;
}

export async function checkDownload(
  core: StoreCore,
  bytes: Uint8Array,
  kind: DownloadKind,
  admit: Admit,
): Promise<Verified | SnapshotRejection> {
  const result = verified(core, bytes, kind);
  if (result.kind === "rejected") return result;
  const { header, content } = result;
  if (header.scope_type === "trust_bundle") {
    const bundle = TrustBundle.parse(content);
    const abroad = demoAbroad(bundle, core.identity);
    if (abroad !== null) return abroad;
    if (rootPinOf(bundle.root) !== rootPinOf(rootOf(core)))
      return admitted(result, { step: 4, field: "root" }, await admit("rotate_trust_roots"));
  }
  if (header.scope_type === "node_bootstrap" && changesRoles(core, content))
    return admitted(result, { step: 10, field: "membership" }, await admit("assign_roles"));
  return result;
}

function verified(core: StoreCore, bytes: Uint8Array, kind: DownloadKind): Verified | SnapshotRejection {
  switch (kind) {
    case "snapshot": {
      const result = verifySnapshot(bytes, contextOf(core));
      if (result.kind === "rejected") return result;
      return { ...result, contentHash: contentHashOf(result.header), stored: bytes };
    }
    case "increment": {
      const result = verifyIncrement(bytes, contextOf(core), baseOf(core, bytes));
      if (result.kind === "rejected") return result;
      return { ...result, contentHash: contentHashOf(result.header) };
    }
    default:
      return unreachable(kind);
  }
}

/** What is in force of the scope that the increment names. */
function baseOf(core: StoreCore, bytes: Uint8Array): HeldSnapshot | null {
  const claims = claimsOf(bytes);
  return claims === null ? null : core.held.get(claims.scope);
}

function changesRoles(core: StoreCore, content: Json): boolean {
  const { membership } = NodeBootstrapContent.parse(content);
  const sorted = (names: readonly string[]) => JSON.stringify(names.toSorted());
  const now = membershipOf(core);
  return (
    sorted(membership?.roles ?? []) !== sorted(now.roles) ||
    sorted(membership?.organization_ids ?? []) !== sorted(now.organizationIds)
  );
}

function admitted(
  result: Verified,
  place: { readonly step: number; readonly field: string },
  gate: Gate,
): Verified | SnapshotRejection {
  if (gate.kind === "open") return result;
  const { header } = result;
  const { code, reason } = gate;
  return { kind: "rejected", ...place, code, reason, scope: header.scope_type, version: versionOf(header) };
}
