/**
 * Checks 4 and 5 for what the root keys sign together: trust bundles (SNAP-8, SNAP-15).
 *
 * 1. Every signature is by a key of the believed root set or of the new one, once, and verifies.
 * 2. The threshold of the believed set is met; where the set changes, that of the new set as well: nobody is handed
 *    a root that cannot sign.
 * 3. A revoked root key signs nothing more, even while the set still lists it.
 */
import type { Json } from "../core/json.ts";
import type { RootSet } from "../core/snapshot/trust-bundle.ts";
import { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { rootPinOf } from "./pins.ts";
import { fail, ok, type Failure, type SnapshotContext, type Subject } from "./snapshot-subject.ts";
import { checkThreshold, usableKey } from "./trusted-keys.ts";

const refuse = (reason: string) => fail("SNAPSHOT_SIGNATURE_INVALID", "signature", reason);

export function rootSignerTrusted({ header, frame, context }: Subject): Failure | null {
  const untrusted = (reason: string) => fail("SNAPSHOT_KEY_UNTRUSTED", "signer_key_id", reason);
  if (frame.signatures[0]?.key_id !== header.signer_key_id)
    return untrusted("the first signature is another key's");
  if (header.co_signer_key_ids !== undefined) return untrusted("root keys sign without being named");
  const record = believedRoot(context).keys.find((key) => key.key_id === header.signer_key_id);
  if (record === undefined) return untrusted("not a root key, or revoked");
  if (record.algorithm !== header.signature_algorithm)
    return untrusted("its algorithm differs from its record");
  const key = usableKey(record);
  return key.kind === "untrusted" ? untrusted(key.reason) : ok;
}

export function rootSignaturesVerify({ header, frame, context, domain }: Subject): Failure | null {
  const signed = frame.signatures.map(({ key_id }) => key_id);
  const believed = believedRoot(context);
  const verdict = checkThreshold(domain, frame, believed);
  if (verdict.kind === "short") return refuse(verdict.reason); // (2)
  if (new Set(signed).size !== signed.length) return refuse("one key signed twice"); // (1)
  if (!verdict.valid.has(header.signer_key_id)) return refuse("the named signer's own does not verify");
  const bad = signed.find((id) => believed.keys.some((key) => key.key_id === id) && !verdict.valid.has(id));
  return bad === undefined ? ok : refuse(`the signature of key ${bad.slice(0, 12)} does not verify`);
}

/** The second half of check 5: the new root set stands in the content, so it waits until that may be read. */
export function newRootSigned({ header, frame, context, domain }: Subject, content: Json): Failure | null {
  if (header.scope_type !== "trust_bundle") return ok;
  const parsed = TrustBundle.safeParse(content);
  if (!parsed.success) return ok; // check 11 says why
  const { root, revoked_keys } = parsed.data;
  const next = withoutRevoked(root, revoked_keys);
  const verdict = checkThreshold(domain, frame, next);
  const believed = believedRoot(context);
  const valid = verdict.kind === "ok" ? verdict.valid : new Set<string>();
  const stray = frame.signatures.find(
    ({ key_id }) => !valid.has(key_id) && !believed.keys.some((key) => key.key_id === key_id),
  );
  if (rootPinOf(root) !== rootPinOf(context.root) && verdict.kind === "short")
    return refuse(`of the new root set, ${verdict.reason}`); // (2)
  return stray === undefined
    ? ok
    : refuse(`key ${stray.key_id.slice(0, 12)} is in no root set, or did not sign`); // (1)
}

/** Invariant 3. */
function believedRoot({ root, bundle, previous }: SnapshotContext): RootSet {
  return withoutRevoked(root, (previous ?? bundle)?.revoked_keys ?? []);
}

const withoutRevoked = (root: RootSet, revoked: readonly string[]): RootSet => ({
  ...root,
  keys: root.keys.filter((key) => !revoked.includes(key.key_id)),
});
