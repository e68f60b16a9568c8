/**
 * Which trust bundle this machine believes.
 *
 * 1. A bundle is believed under the root that was pinned at `init` or came from a colleague; a later one, because the
 *    one before it is believed. A server's word is not enough.
 * 2. Whether it has expired does not matter here: from an expired one the next is made.
 */
import { FairleadError } from "../../core/errors.ts";
import { NodeId, type ClusterId } from "../../core/ids.ts";
import { SHARED_SUBJECT, SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { TrustBundle, type RootSet } from "../../core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { rootPinOf } from "../../trust/pins.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import { verifySnapshot } from "../../trust/verify-snapshot.ts";
import type { Pins } from "../context.ts";

export interface BelievedBundle {
  readonly frame: Buffer;
  readonly header: SnapshotHeader;
  readonly content: TrustBundle;
}

/** Without any check of who signed it. */
export function openBundle(frame: Buffer): BelievedBundle {
  try {
    const parts = decodeFrame(frame);
    const header = SnapshotHeader.parse(parseCanonical(parts.header));
    if (header.scope_type !== "trust_bundle" || header.subject_node_id !== SHARED_SUBJECT)
      throw new FairleadError("BUNDLE_REFUSED", "it is a snapshot of another kind");
    return { frame, header, content: TrustBundle.parse(parseCanonical(parts.content)) };
  } catch (cause) {
    throw new FairleadError("BUNDLE_REFUSED", "the bytes are not a trust bundle", undefined, cause);
  }
}

export function believeByPin(frame: Buffer, pins: Pins): BelievedBundle {
  const bundle = openBundle(frame);
  const pin = rootPinOf(bundle.content.root);
  if (pin !== pins.root_pin)
    throw new FairleadError(
      "PIN_MISMATCH",
      "the trust bundle has another root than the one that is pinned here",
      {
        pinned: pins.root_pin,
        found: pin,
      },
    );
  return believe(bundle, pins.cluster_id, bundle.content.root, null);
}

/** Taken as a node takes it that holds the one before. */
export const believeAfter = (frame: Buffer, before: BelievedBundle): BelievedBundle =>
  believe(openBundle(frame), before.header.cluster_id, before.content.root, before);

function believe(
  bundle: BelievedBundle,
  clusterId: ClusterId,
  root: RootSet,
  before: BelievedBundle | null,
): BelievedBundle {
  const issued = Date.parse(bundle.header.issued_at);
  const held = before === null ? null : before.content;
  const verdict = verifySnapshot(bundle.frame, {
    clusterId,
    nodeId: NodeId.parse(clusterId), // any id: the subject is shared
    roles: [],
    organizationIds: [],
    root,
    bundle: held,
    previous: held,
    epoch: before?.header.authority_epoch ?? null,
    accepted: () =>
      before === null
        ? null
        : { epoch: before.header.authority_epoch, version: before.header.config_version },
    time: { local: issued, effective: issued }, // (2)
  });
  if (verdict.kind === "accepted") return bundle;
  throw new FairleadError(
    "BUNDLE_REFUSED",
    `the trust bundle is refused: ${verdict.field}: ${verdict.reason}`,
    {
      rejection: verdict.code,
      step: verdict.step,
      field: verdict.field,
    },
  );
}
