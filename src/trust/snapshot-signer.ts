/** Checks 4 and 5 of a snapshot: may this key sign this scope, and did it. */
import type { SnapshotHeader } from "../core/snapshot/envelope.ts";
import { SCOPES } from "../core/snapshot/scopes.ts";
import type { KeyRecord, RootSet } from "../core/snapshot/trust-bundle.ts";
import { fail, ok, type Failure, type SnapshotContext, type Subject } from "./snapshot-subject.ts";
import { checkThreshold, onlineKeyFor, usableKey, type KeyLookup } from "./trusted-keys.ts";

export const SNAPSHOT_DOMAIN = "fairlead/snapshot/v1";

export function signerTrusted({ header, frame, context }: Subject): Failure | null {
  const untrusted = (reason: string) => fail("SNAPSHOT_KEY_UNTRUSTED", "signer_key_id", reason);
  if (frame.signatures[0]?.key_id !== header.signer_key_id)
    return untrusted("the first signature is another key's");
  const found = signerOf(header, context);
  if (found.kind === "untrusted") return untrusted(found.reason);
  if (found.record.algorithm !== header.signature_algorithm)
    return untrusted("its algorithm differs from its record");
  const key = usableKey(found.record);
  return key.kind === "untrusted" ? untrusted(key.reason) : ok;
}

function signerOf(header: SnapshotHeader, context: SnapshotContext): KeyLookup<KeyRecord> {
  if (SCOPES[header.scope_type].signer === "root") {
    const record = believedRoot(context).keys.find((key) => key.key_id === header.signer_key_id);
    return record === undefined
      ? { kind: "untrusted", reason: "not a root key, or revoked" }
      : { kind: "trusted", record };
  }
  if (context.bundle === null) return { kind: "untrusted", reason: "no trust bundle is in force" };
  return onlineKeyFor(context.bundle, header.signer_key_id, header.scope_type, context.time);
}

/** A revoked root key signs nothing more, even while the set still lists it. */
function believedRoot({ root, bundle, previous }: SnapshotContext): RootSet {
  const revoked = (previous ?? bundle)?.revoked_keys ?? [];
  return { ...root, keys: root.keys.filter((key) => !revoked.includes(key.key_id)) };
}

export function signatureVerifies({ header, frame, context }: Subject): Failure | null {
  const refuse = (reason: string) => fail("SNAPSHOT_SIGNATURE_INVALID", "signature", reason);
  const keys =
    SCOPES[header.scope_type].signer === "root"
      ? believedRoot(context)
      : {
          threshold: 1,
          keys: context.bundle!.online_keys.filter((key) => key.key_id === header.signer_key_id),
        };
  const verdict = checkThreshold(SNAPSHOT_DOMAIN, frame, keys);
  if (verdict.kind === "short") return refuse(verdict.reason);
  return verdict.valid.has(header.signer_key_id) ? ok : refuse("the named signer's own does not verify");
}
