// While online keys rotate, two of them sign; which node accepts what then (SNAP-8).
import { expect, test } from "vitest";
import type { KeyId } from "../../../src/core/ids.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { assignmentFrame, at, bundleOf, contextOf, newKeys, newSigner, NOW } from "../../support/trust.ts";

const keys = newKeys();
const [incoming, stranger] = [newSigner(), newSigner()];
const [known] = bundleOf(keys).online_keys;
const withIncoming = (changes: object = {}): TrustBundle =>
  bundleOf(keys, { online_keys: [known!, { ...known!, ...incoming.record, ...changes }] });
const signedBy = (...signers: [Signer, ...Signer[]]): Buffer => assignmentFrame(keys, { signers });
const under = (frame: Buffer, bundle = bundleOf(keys), context: Partial<SnapshotContext> = {}) =>
  verifySnapshot(frame, contextOf(keys, { bundle, ...context }));
const UNTRUSTED = { kind: "rejected", step: 4, code: "SNAPSHOT_KEY_UNTRUSTED", field: "signer_key_id" };
const BROKEN = { kind: "rejected", step: 5, code: "SNAPSHOT_SIGNATURE_INVALID", field: "signature" };

test("a snapshot signed by both keys is accepted by a node of either bundle, in either order", () => {
  for (const frame of [signedBy(keys.online, incoming), signedBy(incoming, keys.online)]) {
    expect(under(frame).kind).toBe("accepted");
    expect(under(frame, withIncoming()).kind).toBe("accepted");
    const after = bundleOf(keys, { online_keys: [{ ...known!, ...incoming.record }] });
    expect(under(frame, after).kind).toBe("accepted");
  }
});

test("without a co-signature, a new key is unknown to a node of the old bundle", () => {
  expect(under(signedBy(incoming))).toMatchObject(UNTRUSTED);
  expect(under(signedBy(incoming), withIncoming()).kind).toBe("accepted");
});

test.each<[string, TrustBundle, Partial<SnapshotContext>]>([
  ["revoked by the bundle", bundleOf(keys, { revoked_keys: [incoming.record.key_id] }), {}],
  ["revoked by a head", bundleOf(keys), { revokedKeys: [incoming.record.key_id] }],
  ["revoked by a head while listed", withIncoming(), { revokedKeys: [incoming.record.key_id] }],
  ["expired", withIncoming({ valid_until: at(NOW) }), {}],
  ["not valid yet", withIncoming({ valid_from: at(NOW + 1) }), {}],
  ["for another scope", withIncoming({ scopes: ["qos_policy"] }), {}],
  [
    "a release key",
    bundleOf(keys, { release_keys: [{ ...bundleOf(keys).release_keys[0]!, ...incoming.record }] }),
    {},
  ],
  ["a root key", bundleOf(keys, { root: { threshold: 1, keys: [incoming.record] } }), {}],
])("a first signer that is %s is not helped by a good co-signer", (_, bundle, context) => {
  expect(under(signedBy(incoming, keys.online), bundle, context)).toMatchObject(UNTRUSTED);
});

test("an unknown first signer needs a co-signer that is trusted", () => {
  expect(under(signedBy(stranger, incoming))).toMatchObject(UNTRUSTED);
  expect(under(signedBy(stranger, keys.release))).toMatchObject(UNTRUSTED);
  const revokedKeys: KeyId[] = [keys.online.record.key_id];
  expect(under(signedBy(stranger, keys.online), undefined, { revokedKeys })).toMatchObject(UNTRUSTED);
});

const both = decodeFrame(signedBy(keys.online, incoming));
const [mine, other] = both.signatures as [(typeof both.signatures)[0], (typeof both.signatures)[0]];
const rebuilt = (...signatures: (typeof mine)[]): Buffer => encodeFrame({ ...both, signatures });

test.each([
  ["dropped", rebuilt(mine)],
  ["dropped first", rebuilt(other)],
  ["added", rebuilt(mine, other, { ...other, key_id: stranger.record.key_id })],
  ["swapped", rebuilt(other, mine)],
  ["doubled", rebuilt(mine, mine)],
  [
    "named twice",
    assignmentFrame(keys, {
      signers: [keys.online, keys.online],
      header: { co_signer_key_ids: [keys.online.record.key_id] },
    }),
  ],
  [
    "not named",
    assignmentFrame(keys, {
      signers: [keys.online, incoming],
      header: { co_signer_key_ids: undefined } as never,
    }),
  ],
])("check 4 refuses a snapshot with a signature %s", (_, frame) => {
  expect(under(frame, withIncoming())).toMatchObject(UNTRUSTED);
});

test("check 5 refuses a co-signature of a known key that does not verify, though the first one does", () => {
  const forged = rebuilt(mine, { ...other, signature: mine.signature });
  expect(under(forged, withIncoming())).toMatchObject(BROKEN);
  const first = rebuilt({ ...mine, signature: other.signature }, other);
  expect(under(first, withIncoming())).toMatchObject(BROKEN);
});
