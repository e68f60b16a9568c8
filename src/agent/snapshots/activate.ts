/**
 * One snapshot or increment, from its bytes to its force (SNAP-12):
 * download to pending, verify, write durably, swap the pointer, notify. Reporting is the pulse's.
 *
 * 1. The state file is the pointer: killed before its rename the old snapshot is active, killed after it the new one.
 * 2. A rejection changes nothing but the reason that is stored with the scope.
 */
import { versionOf } from "../../core/snapshot/envelope.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import { digestOf } from "../../trust/digest.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { resetsTime } from "../../trust/snapshot-order.ts";
import type { SnapshotRejection } from "../../trust/verify-snapshot.ts";
import { rootOf } from "./belief.ts";
import { checkDownload, type Admit, type DownloadKind, type Verified } from "./check-download.ts";
import type { StoreCore } from "./core.ts";
import { reloadHead } from "./heads.ts";
import { frameName, FRAME_BYTES_MAX, isStoredTwice } from "./layout.ts";
import { isHeldBack, noteRejection } from "./rejections.ts";
import { reloadFollowing } from "./reload.ts";
import { filesKept } from "./revoked.ts";
import { raised, scopeIn, withScope, type FrameRef, type State } from "./state.ts";

export type Activated = Pick<Verified, "kind" | "header" | "content">;

export async function activate(
  core: StoreCore,
  bytes: Uint8Array,
  kind: DownloadKind,
  admit: Admit,
): Promise<Activated | SnapshotRejection> {
  if (bytes.length > FRAME_BYTES_MAX) return refused(core, TOO_LARGE);
  await core.frames.download(bytes);
  const result = await checkDownload(core, bytes, kind, admit);
  if (result.kind === "rejected") {
    await core.frames.discard();
    return refused(core, result); // (2)
  }
  const { header, content, contentHash } = result;
  const [scope, version] = [header.scope_type, versionOf(header)];
  const file = frameName(scope, version);
  await (isStoredTwice(scope)
    ? core.frames.storeTwice(file, result.stored)
    : core.frames.store(file, result.stored));
  await core.save(nextState(core, result, file)); // (1)
  core.lost.delete(scope);
  core.held.put(scope, { header, content, contentHash, version });
  if (scope === "degraded_mode_policy") core.bound = null;
  await core.frames.sweep(filesKept(core)); // the download, and what is older than the previous one
  if (scope === "trust_bundle") await reloadHead(core);
  if (scope === "trust_bundle" || scope === "node_bootstrap") await reloadFollowing(core);
  core.notify(scope);
  return { kind: "accepted", header, content };
}

async function refused(core: StoreCore, rejection: SnapshotRejection): Promise<SnapshotRejection> {
  await noteRejection(core, rejection);
  return rejection;
}

function nextState(core: StoreCore, { header, contentHash, stored, content }: Verified, file: string): State {
  const state = core.state();
  const scope = header.scope_type;
  const before = scopeIn(state, scope);
  const active: FrameRef = {
    ...versionOf(header),
    file,
    file_digest: digestOf(stored),
    content_hash: contentHash,
    signer_key_ids: decodeFrame(stored).signatures.map(({ key_id }) => key_id),
    issued_at: header.issued_at,
    expires_at: header.expires_at,
    refresh_after: header.refresh_after,
  };
  // Only root keys of a new epoch lower the floor (SNAP-17).
  const floor =
    scope === "trust_bundle" && resetsTime(content)
      ? header.issued_at
      : raised(state.floor, header.issued_at);
  const next = withScope({ ...state, floor }, scope, {
    accepted: versionOf(header),
    active,
    previous: core.lost.has(scope) ? before.previous : before.active, // what is damaged is nothing to go back to
    resync: false,
    rejection: isHeldBack(before.rejection) ? null : before.rejection,
  });
  if (scope !== "trust_bundle") return next;
  const believed = { ...active, believed_by: { root: rootOf(core), epoch: state.epoch } };
  const settled = { root: TrustBundle.parse(content).root, epoch: header.authority_epoch };
  return withScope({ ...next, ...settled }, scope, { active: believed });
}

const TOO_LARGE: SnapshotRejection = {
  kind: "rejected",
  step: 1,
  code: "SNAPSHOT_MALFORMED",
  field: "frame",
  reason: `a frame of more than ${FRAME_BYTES_MAX} bytes`,
};
