// Root keys sign trust bundles together, k of n; what counts as one of the k (SNAP-15, go-tuf, python-tuf).
import { createPublicKey } from "node:crypto";
import { expect, test } from "vitest";
import type { RootSet } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import { keyIdOf, type Signer } from "../../../src/trust/keys.ts";
import { checkThreshold } from "../../../src/trust/trusted-keys.ts";
import { SNAPSHOT_DOMAIN } from "../../../src/trust/snapshot-signer.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { bundleFrame, bundleOf, contextOf, newKeys, newSigner } from "../../support/trust.ts";

const keys = newKeys();
const [first, second, third] = keys.roots;
const signedBy = (...signers: [Signer, ...Signer[]]) => bundleFrame(keys, { signers });
const verdict = (frame: Buffer, root: RootSet = bundleOf(keys).root) =>
  verifySnapshot(frame, contextOf(keys, { root, bundle: null }));
const SHORT = { step: 5, code: "SNAPSHOT_SIGNATURE_INVALID" };
const UNTRUSTED = { step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" };

test("two of three root keys are enough, in any order and with a third", () => {
  expect(verdict(signedBy(first, second)).kind).toBe("accepted");
  expect(verdict(signedBy(third, first)).kind).toBe("accepted");
  expect(verdict(signedBy(first, second, third)).kind).toBe("accepted");
});

test.each<[string, [Signer, ...Signer[]]]>([
  ["one root key alone", [first]],
  ["one root key twice", [first, first]],
  ["one root key sixteen times", [first, ...Array<Signer>(15).fill(first)]],
  ["one root key and a stranger's", [first, newSigner()]],
  ["one root key and the online key", [first, keys.online]],
])("%s is not two", (_, signers) => {
  expect(verdict(signedBy(...signers))).toMatchObject(SHORT);
});

test("one key under a second id counts for nothing", () => {
  const spki = Buffer.concat([Buffer.from(first.record.public_key, "base64"), Buffer.from([0])]);
  const alias: Signer = {
    record: { ...first.record, key_id: keyIdOf(spki), public_key: spki.toString("base64") },
    sign: first.sign,
  };
  expect(createPublicKey({ key: spki, type: "spki", format: "der" }).asymmetricKeyType).toBe("ed25519");
  const root = { threshold: 2, keys: [first.record, alias.record] };
  expect(verdict(signedBy(first, alias), root)).toMatchObject(SHORT);
  expect(verdict(signedBy(alias, first), root)).toMatchObject(UNTRUSTED);
});

test.each([0, -1, Number.NaN, 1.5])("a threshold of %d is no threshold, whatever was signed", (threshold) => {
  const frame = decodeFrame(signedBy(first, second, third));
  const set = { threshold, keys: keys.roots.map(({ record }) => record) };
  expect(checkThreshold(SNAPSHOT_DOMAIN, frame, set).kind).toBe("short");
  expect(checkThreshold(SNAPSHOT_DOMAIN, frame, { ...set, threshold: 3 }).kind).toBe("ok");
});

test("the signer that the header names must itself have signed", () => {
  const parts = decodeFrame(signedBy(first, second, third));
  const forged = { ...parts.signatures[0]!, signature: parts.signatures[1]!.signature };
  const frame = encodeFrame({ ...parts, signatures: [forged, ...parts.signatures.slice(1)] });
  expect(verdict(frame)).toMatchObject(SHORT);
});

test("a root key that the bundle in force revokes signs nothing more, alone or beside others (SNAP-8)", () => {
  const revoked = { revoked_keys: [first.record.key_id] };
  const without = bundleOf(keys, { ...revoked, root: { threshold: 2, keys: [second.record, third.record] } });
  const under = (...signers: [Signer, ...Signer[]]) =>
    verifySnapshot(
      bundleFrame(keys, { signers, bundle: without }),
      contextOf(keys, { bundle: bundleOf(keys, revoked) }),
    );
  expect(under(first, second)).toMatchObject(UNTRUSTED);
  expect(under(second, first)).toMatchObject(SHORT);
  expect(under(second, third, first)).toMatchObject(SHORT);
  expect(under(second, third).kind).toBe("accepted");
});

test("a root set with a small-order key is a rejection, not an exception", () => {
  const point = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.alloc(32)]);
  const weak: Signer = {
    record: { key_id: keyIdOf(point), algorithm: "Ed25519", public_key: point.toString("base64") },
    sign: () => Buffer.alloc(64),
  };
  const root = { threshold: 1, keys: [weak.record] };
  expect(verdict(bundleFrame(keys, { signers: [weak] }), root)).toMatchObject(UNTRUSTED);
});
