/**
 * Is this a bundle to begin with? It vouches for itself: from here on, agents pin its root set, and
 * this server only carries it. What is checked is that it is whole, for this cluster, and lets this server work.
 */
import { FairleadError } from "../../core/errors.ts";
import { NodeId, type ClusterId } from "../../core/ids.ts";
import { SHARED_SUBJECT } from "../../core/snapshot/envelope.ts";
import { NODE_ROLES } from "../../core/snapshot/scopes.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { parseBounded } from "../../trust/strict-json.ts";
import { onlineKeyFor, type TimeWindow } from "../../trust/trusted-keys.ts";
import { verifySnapshot } from "../../trust/verify-snapshot.ts";
import type { Signer } from "../../trust/keys.ts";

/** No node: the bundle's subject is shared, and one that names a node is refused. */
export const NOBODY = NodeId.parse("00000000-0000-0000-0000-000000000000");
const FIRST = { version: 1, epoch: 1 };

export function verifyFirstBundle(
  frame: Uint8Array,
  context: { readonly clusterId: ClusterId; readonly online: Signer; readonly now: number },
): TrustBundle {
  const time = { local: context.now, effective: context.now };
  const bundle = readContent(frame);
  const verdict = verifySnapshot(frame, {
    clusterId: context.clusterId,
    nodeId: NOBODY,
    roles: NODE_ROLES,
    organizationIds: [],
    root: bundle.root,
    bundle: null,
    epoch: null,
    accepted: () => null,
    time,
  });
  if (verdict.kind === "rejected")
    throw refused(verdict.reason, { field: verdict.field, step: verdict.step });
  const { header } = verdict;
  if (header.scope_type !== "trust_bundle" || header.subject_node_id !== SHARED_SUBJECT) {
    throw refused("it is a snapshot of another kind");
  }
  if (header.config_version !== FIRST.version || header.authority_epoch !== FIRST.epoch) {
    throw refused("the first bundle has version 1 and epoch 1");
  }
  refuseWithoutOnlineKey(bundle, context.online, time);
  return bundle;
}

function readContent(frame: Uint8Array): TrustBundle {
  try {
    return TrustBundle.parse(parseBounded(decodeFrame(frame).content));
  } catch (cause) {
    throw new FairleadError("BUNDLE_REFUSED", "the bytes are not a trust bundle", undefined, cause);
  }
}

function refuseWithoutOnlineKey(bundle: TrustBundle, online: Signer, time: TimeWindow): void {
  const found = onlineKeyFor(bundle, online.record.key_id, "service_assignment", time);
  if (found.kind === "untrusted") throw refused(`this server could not sign anything: ${found.reason}`);
}

const refused = (why: string, detail?: Record<string, unknown>): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `the trust bundle is refused: ${why}`, detail);
