/** An empty intent, carried here after a cancel (SNAP-15): it authorises nothing and outdates what was signed before it. */
import { FairleadError } from "../../core/errors.ts";
import { isVoid } from "../../core/protocol/intent.ts";
import { verifyIntent } from "../../trust/intent.ts";
import type { ReceiveDeps } from "./receive.ts";

/** True when something was learnt from it. */
export async function receiveVoidIntent(
  { identity, snapshots, ledger }: Pick<ReceiveDeps, "identity" | "snapshots" | "ledger">,
  frame: Uint8Array,
): Promise<boolean> {
  const bundle = snapshots.bundle();
  if (bundle === null) throw new FairleadError("INTENT_UNTRUSTED", "no trust bundle is accepted");
  const { intent, digest } = verifyIntent(frame, bundle, snapshots.time(), snapshots.revokedKeys());
  if (!isVoid(intent) || intent.cluster_id !== identity.cluster_id) {
    throw new FairleadError("INTENT_MISMATCH", "not an empty intent of this cluster");
  }
  const before = ledger.profile(intent.chain_profile_id).serial;
  await ledger.outdate(intent.chain_profile_id, { serial: intent.serial, digest });
  return intent.serial > before;
}
