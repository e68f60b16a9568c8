import { expect, test } from "vitest";
import { ProfileId } from "../../../src/core/ids.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { onlineKeyFor, releaseKeyFor } from "../../../src/trust/trusted-keys.ts";
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
