// A root set hands over to the next only with the signatures of both (SNAP-8, SNAP-15).
import { expect, test } from "vitest";
import type { RootSet } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { bundleFrame, bundleOf, contextOf, newKeys, newSigner } from "../../support/trust.ts";

const keys = newKeys();
const [first, second, third] = keys.roots;
const [fourth, fifth] = [newSigner(), newSigner()];
const setOf = (threshold: number, ...signers: Signer[]): RootSet => ({
  threshold,
  keys: signers.map(({ record }) => record),
});
const verdict = (root: RootSet, ...signers: [Signer, ...Signer[]]) =>
  verifySnapshot(
    bundleFrame(keys, { bundle: bundleOf(keys, { root }), signers, header: { config_version: 2 } }),
    contextOf(keys),
  );
const SHORT = { step: 5, code: "SNAPSHOT_SIGNATURE_INVALID", field: "signature" };

test("a new root set needs the believed set's threshold and its own", () => {
  const next = setOf(2, third, fourth, fifth);
  expect(verdict(next, first, second, fourth, fifth).kind).toBe("accepted");
  expect(verdict(next, first, third, fourth).kind).toBe("accepted");
  expect(verdict(next, first, second)).toMatchObject(SHORT);
  expect(verdict(next, first, second, fourth)).toMatchObject(SHORT);
  expect(verdict(next, first, fourth, fifth)).toMatchObject(SHORT);
});

test("new keys alone hand themselves nothing, and cannot stand as the signer", () => {
  const next = setOf(2, fourth, fifth);
  expect(verdict(next, fourth, fifth)).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
});

test("a higher threshold over the same keys must be met by the bundle that sets it", () => {
  expect(verdict(setOf(3, first, second, third), first, second)).toMatchObject(SHORT);
  expect(verdict(setOf(3, first, second, third), first, second, third).kind).toBe("accepted");
  expect(verdict(setOf(1, first, second, third), first)).toMatchObject(SHORT);
});

test("every signature is by a key of one of the two sets and verifies", () => {
  expect(verdict(bundleOf(keys).root, first, second, newSigner())).toMatchObject(SHORT);
  const parts = decodeFrame(bundleFrame(keys, { signers: [first, second, third] }));
  const [one, two, three] = parts.signatures;
  const forged = encodeFrame({
    ...parts,
    signatures: [one!, two!, { ...three!, signature: one!.signature }],
  });
  expect(verifySnapshot(forged, contextOf(keys))).toMatchObject(SHORT);
});

test("a forged signature of a new key is refused even when enough others signed", () => {
  const next = setOf(1, first, fourth);
  const frame = bundleFrame(keys, {
    bundle: bundleOf(keys, { root: next }),
    signers: [first, second, fourth],
    header: { config_version: 2 },
  });
  const parts = decodeFrame(frame);
  const [one, two, last] = parts.signatures;
  const forged = { ...parts, signatures: [one!, two!, { ...last!, signature: one!.signature }] };
  expect(verifySnapshot(frame, contextOf(keys)).kind).toBe("accepted");
  expect(verifySnapshot(encodeFrame(forged), contextOf(keys))).toMatchObject(SHORT);
});

test("the order in which a set lists its keys is no change", () => {
  expect(verdict(setOf(2, third, second, first), first, second).kind).toBe("accepted");
});

test("root keys are not named as co-signers: they sign a finished header", () => {
  const named = bundleFrame(keys, { header: { co_signer_key_ids: [second.record.key_id] } });
  expect(verifySnapshot(named, contextOf(keys))).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
});
