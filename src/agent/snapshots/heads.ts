/**
 * Heads (SNAP-17): the newest one is held durably, and raises the floor of time.
 *
 * 1. What a head revokes counts from the moment it is held: keys and roles are taken from the snapshots in force.
 * 2. A head that was taken and cannot be verified again, because its key ended or its trust bundle is damaged, still
 *    revokes what it revoked; it does nothing else (ADR 25). One whose key was revoked, or whose epoch is over, is void.
 * 3. Only a newer head takes back that the control plane called this node revoked.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Rejection } from "../../core/protocol/agent-api.ts";
import { readHead, verifyHead, type VerifiedHead } from "../../trust/head.ts";
import { bundleInForce, isRevokedByBundle, lastBundle, revokedKeys } from "./belief.ts";
import type { StoreCore } from "./core.ts";
import { rejectionOf } from "./rejections.ts";
import { reloadFollowing } from "./reload.ts";
import { learnRevoked, NONE_REVOKED } from "./revoked.ts";
import { raised } from "./state.ts";

export type TakenHead =
  | { readonly kind: "accepted"; readonly head: VerifiedHead }
  | { readonly kind: "refused"; readonly rejection: Rejection };

export async function takeHead(core: StoreCore, bytes: Uint8Array): Promise<TakenHead> {
  let head: VerifiedHead;
  try {
    head = verifyHead(bytes, { ...contextFor(core), time: core.time(), held: core.head });
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return refused(core, error);
  }
  const state = core.state();
  await core.save({
    ...state,
    head: Buffer.from(bytes).toString("base64"),
    floor: raised(state.floor, head.header.issued_at),
    refused_at: null, // (3)
  });
  core.head = head;
  core.remembered = null;
  if (await learnRevoked(core)) await reloadFollowing(core); // (1)
  core.notify("head");
  return { kind: "accepted", head };
}

const contextFor = (core: StoreCore) => ({
  clusterId: core.identity.cluster_id,
  nodeId: core.identity.node_id,
  bundle: bundleInForce(core),
  bundleExpiresAt: core.held.bundle()?.expiresAt ?? 0,
  epoch: core.state().epoch,
  revokedKeys: revokedKeys(core),
});

/**
 * The one that is held, verified again after a restart and under a new bundle. An expired one, also under an expired
 * bundle, still says what was revoked and which versions are too old.
 */
export async function reloadHead(core: StoreCore): Promise<void> {
  core.head = heldHead(core);
  core.remembered = core.head === null ? rememberedHead(core) : null; // (2)
  core.revoked = NONE_REVOKED;
  await learnRevoked(core);
}

function heldHead(core: StoreCore): VerifiedHead | null {
  const { head } = core.state();
  if (head === null) return null;
  try {
    const time = { local: Infinity, effective: 0 };
    const context = { ...contextFor(core), bundle: lastBundle(core), time, held: null };
    return verifyHead(Buffer.from(head, "base64"), context);
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    return null;
  }
}

/** (2) The state file holds only heads that were verified when they were taken. */
function rememberedHead(core: StoreCore): VerifiedHead | null {
  const { head: kept, epoch } = core.state();
  if (kept === null) return null;
  const head = readHead(Buffer.from(kept, "base64"));
  if (head === null || head.header.authority_epoch !== epoch) return null;
  const { signer_key_id, co_signer_key_ids = [] } = head.header;
  return isRevokedByBundle(core, [signer_key_id, ...co_signer_key_ids]) ? null : head;
}

/** A head whose pages are not all stored names fewer revocations than it should. */
export const isHeadFresh = ({ head, revoked, time }: StoreCore): boolean =>
  head !== null && revoked.missing.length === 0 && Date.parse(head.header.expires_at) > time().effective;

async function refused(core: StoreCore, { code, message }: FairleadError): Promise<TakenHead> {
  const note = { code, field: "head", reason: message } as const;
  const rejection: Rejection = { ...rejectionOf(note, core.clock.now()), subject: "head" };
  const before = core.state().rejection;
  if (before?.code !== code || before.subject !== "head") await core.save({ ...core.state(), rejection });
  return { kind: "refused", rejection };
}
