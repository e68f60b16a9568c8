import { expect, test } from "vitest";
import { ProfileId } from "../../../src/core/ids.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame, signFrame } from "../../../src/trust/frame.ts";
import {
  checkThreshold,
  onlineKeyFor,
  releaseKeyFor,
  usableKey,
  validSignatures,
} from "../../../src/trust/trusted-keys.ts";
import { at, bundleOf, HOUR_MS, newKeys, newSigner, NOW, PROFILE } from "../../support/trust.ts";

const keys = newKeys();
const good = bundleOf(keys);
const now = { local: NOW, effective: NOW };
const online = (bundle: TrustBundle, keyId = keys.online.record.key_id, time = now) =>
  onlineKeyFor(bundle, keyId, "service_assignment", time);
const release = (bundle: TrustBundle, keyId = keys.release.record.key_id, time = now) =>
  releaseKeyFor(bundle, keyId, PROFILE, time);
const withOnline = (changes: object) =>
  bundleOf(keys, { online_keys: [{ ...good.online_keys[0]!, ...changes }] });
const withRelease = (changes: object) =>
  bundleOf(keys, { release_keys: [{ ...good.release_keys[0]!, ...changes }] });

test("the online key and the release key of the bundle are trusted", () => {
  expect(online(good).kind).toBe("trusted");
  expect(release(good).kind).toBe("trusted");
  expect(release(withRelease({ profiles: [PROFILE] })).kind).toBe("trusted");
});

test.each([
  ["unknown", online(good, newSigner().record.key_id)],
  ["a release key", online(good, keys.release.record.key_id)],
  ["a root key", online(good, keys.roots[0].record.key_id)],
  ["revoked", online(bundleOf(keys, { revoked_keys: [keys.online.record.key_id] }))],
  ["expired", online(withOnline({ valid_until: at(NOW) }))],
  ["not valid yet", online(withOnline({ valid_from: at(NOW + 1) }))],
  ["for another scope", online(withOnline({ scopes: ["qos_policy"] }))],
  [
    "expired by the floor, though the clock was set back",
    online(withOnline({ valid_until: at(NOW) }), undefined, { local: NOW - HOUR_MS, effective: NOW }),
  ],
])("an online key that is %s signs no assignment (SNAP-8)", (_, found) => {
  expect(found.kind).toBe("untrusted");
});

test.each([
  ["unknown", release(good, newSigner().record.key_id)],
  ["the online key", release(good, keys.online.record.key_id)],
  ["revoked", release(bundleOf(keys, { revoked_keys: [keys.release.record.key_id] }))],
  ["expired", release(withRelease({ valid_until: at(NOW) }))],
  ["not valid yet", release(withRelease({ valid_from: at(NOW + 1) }))],
  ["for another profile", release(withRelease({ profiles: [ProfileId.parse("other")] }))],
])("a release key that is %s signs no intent (SNAP-15)", (_, found) => {
  expect(found.kind).toBe("untrusted");
});

test("a key that a head revoked is untrusted, online or release, and the head's other keys are not", () => {
  const { online: signer, release: releaser } = keys;
  const lookUp = (revoked: typeof signer) => [
    onlineKeyFor(good, signer.record.key_id, null, now, [revoked.record.key_id]).kind,
    releaseKeyFor(good, releaser.record.key_id, PROFILE, now, [revoked.record.key_id]).kind,
  ];
  expect(lookUp(signer)).toEqual(["untrusted", "trusted"]);
  expect(lookUp(releaser)).toEqual(["trusted", "untrusted"]);
});

test("a key is valid from its first millisecond to the one before its end", () => {
  const until = { valid_from: at(NOW), valid_until: at(NOW + 1) };
  expect(online(withOnline(until)).kind).toBe("trusted");
  expect(online(withOnline(until), undefined, { local: NOW - 1, effective: NOW }).kind).toBe("untrusted");
  expect(online(withOnline(until), undefined, { local: NOW, effective: NOW + 1 }).kind).toBe("untrusted");
});

test("a record that is changed in place is loaded anew, and its first key is not used for it", () => {
  const other = newSigner().record;
  for (const change of [{ key_id: other.key_id }, { public_key: other.public_key }, { algorithm: "RS256" }]) {
    const record = { ...keys.online.record };
    expect(usableKey(record).kind).toBe("trusted");
    expect(usableKey(Object.assign(record, change)).kind).toBe("untrusted");
    expect(usableKey(Object.assign(record, keys.online.record)).kind).toBe("trusted");
  }
});

const [first, second, third] = keys.roots;
const records = keys.roots.map(({ record }) => record);
const signedBy = (...signers: (typeof first)[]) =>
  decodeFrame(signFrame("test/v1", { a: 1 }, Buffer.alloc(0), signers));

test("signatures count once per key, and only those of the set that verify under the domain", () => {
  const twice = signedBy(first, second, first);
  expect([...validSignatures("test/v1", twice, records)]).toEqual([
    first.record.key_id,
    second.record.key_id,
  ]);
  expect(validSignatures("test/v2", twice, records).size).toBe(0);
  expect([...validSignatures("test/v1", twice, [second.record, third.record])]).toEqual([
    second.record.key_id,
  ]);
  const unusable = { ...first.record, algorithm: "RS256" as const };
  expect(validSignatures("test/v1", twice, [unusable]).size).toBe(0);
});

test.each([
  [1, "ok"],
  [2, "ok"],
  [3, "short"],
  [0, "short"],
  [-1, "short"],
  [1.5, "short"],
  [Number.NaN, "short"],
])("of two signatures, a threshold of %d is %s", (threshold, kind) => {
  const verdict = checkThreshold("test/v1", signedBy(first, second), { threshold, keys: records });
  expect(verdict.kind).toBe(kind);
});

test("a threshold that is not met says how many signatures it has", () => {
  const verdict = checkThreshold("test/v1", signedBy(first), { threshold: 2, keys: records });
  expect(verdict).toEqual({ kind: "short", reason: "1 valid signatures of 2 needed" });
});
