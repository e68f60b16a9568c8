/** Would a node that holds the bundle before this one take it? The server carries what nodes believe, and nothing else. */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId } from "../../core/ids.ts";
import { SHARED_SUBJECT, type SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { NODE_ROLES } from "../../core/snapshot/scopes.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { rootSignatures } from "../../trust/bundle-draft.ts";
import { verifySnapshot } from "../../trust/verify-snapshot.ts";
import { NOBODY } from "../auth/first-bundle.ts";

export interface HeldBundle {
  readonly epoch: number;
  readonly version: number;
  readonly content: TrustBundle;
}

export interface VerifiedBundle {
  readonly header: SnapshotHeader;
  readonly content: TrustBundle;
}

export function verifyNextBundle(
  frame: Uint8Array,
  { epoch, version, content: before }: HeldBundle,
  clusterId: ClusterId,
  now: number,
): VerifiedBundle {
  const verdict = verifySnapshot(frame, {
    clusterId,
    nodeId: NOBODY,
    roles: NODE_ROLES,
    organizationIds: [],
    root: before.root,
    bundle: before,
    previous: before,
    epoch,
    accepted: () => ({ epoch, version }),
    time: { local: now, effective: now },
  });
  if (verdict.kind === "rejected") {
    refuseUnsigned(frame, before);
    const { code, step, field, reason } = verdict;
    throw refused(`${field}: ${reason}`, { rejection: code, step, field });
  }
  const { header } = verdict;
  if (header.scope_type !== "trust_bundle" || header.subject_node_id !== SHARED_SUBJECT)
    throw refused("it is a snapshot of another kind");
  // Nodes are told apart by the number of the bundle they hold, across epochs too.
  if (header.config_version <= version)
    throw refused(`its version must be above ${version} in a new epoch as well`);
  return { header, content: TrustBundle.parse(verdict.content) };
}

/** Short of signatures is not the same as wrong: the operator collects more. */
function refuseUnsigned(frame: Uint8Array, { root }: TrustBundle): void {
  const { valid, threshold } = countSignatures(frame, root);
  if (valid.length === 0 || valid.length >= threshold) return;
  throw new FairleadError(
    "ROOT_SIGNATURES_MISSING",
    `the bundle has ${valid.length} of the ${threshold} root signatures that nodes ask for`,
    { signed_by: valid, threshold },
  );
}

function countSignatures(frame: Uint8Array, root: TrustBundle["root"]): ReturnType<typeof rootSignatures> {
  try {
    return rootSignatures(frame, root);
  } catch (error) {
    if (error instanceof FairleadError) return { valid: [], threshold: root.threshold }; // damaged: the verdict says how
    throw error;
  }
}

const refused = (why: string, detail?: Record<string, unknown>): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `the trust bundle is refused: ${why}`, detail);
