// What a trust bundle may say, beyond who signed it (check 11, and 12 for secrets).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { keyIdOf } from "../../../src/trust/keys.ts";
import { checkContent } from "../../../src/trust/content-schemas.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { at, bundleFrame, bundleOf, contextOf, newKeys, newSigner, NOW } from "../../support/trust.ts";

const keys = newKeys();
const good = bundleOf(keys);
const smallOrder = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.alloc(32)]);
const weakKey = {
  key_id: keyIdOf(smallOrder),
  algorithm: "Ed25519",
  public_key: smallOrder.toString("base64"),
} as const;
const online = good.online_keys[0]!;

const checkTrustBundle = (content: object, previous: TrustBundle | null) =>
  checkContent("trust_bundle", content as Json, previous);

test("a whole bundle passes, also one that turns intents on", () => {
  expect(checkTrustBundle(good, null)).toBeNull();
  expect(checkTrustBundle(good, bundleOf(keys, { intents_required: false }))).toBeNull();
});

test.each<[string, string, object]>([
  ["a threshold of 0", "root.threshold", { root: { ...good.root, threshold: 0 } }],
  ["a negative threshold", "root.threshold", { root: { ...good.root, threshold: -1 } }],
  ["a threshold above its keys", "root.threshold", { root: { ...good.root, threshold: 4 } }],
  ["no root key", "root.keys", { root: { threshold: 1, keys: [] } }],
  ["a small-order root key", "root", { root: { threshold: 1, keys: [weakKey] } }],
  ["a small-order online key", "online_keys", { online_keys: [{ ...online, ...weakKey }] }],
  ["a small-order release key", "release_keys", { release_keys: [{ ...good.release_keys[0], ...weakKey }] }],
  [
    "one root key twice",
    "root",
    { root: { threshold: 1, keys: [keys.roots[0].record, keys.roots[0].record] } },
  ],
  ["one key as root and online", "online_keys", { online_keys: [{ ...online, ...keys.roots[0].record }] }],
  [
    "a key under another's id",
    "online_keys",
    { online_keys: [{ ...online, key_id: newSigner().record.key_id }] },
  ],
  ["an online key without scopes", "online_keys.0.scopes", { online_keys: [{ ...online, scopes: [] }] }],
  ["an unknown scope", "online_keys.0.scopes.0", { online_keys: [{ ...online, scopes: ["all"] }] }],
  [
    "30 February as an end",
    "online_keys.0.valid_until",
    { online_keys: [{ ...online, valid_until: "2026-02-30T00:00:00Z" }] },
  ],
  [
    "a small-order publisher key",
    "publisher_keys",
    { publisher_keys: [{ ...good.release_keys[0], ...weakKey }] },
  ],
  ["a revoked root key", "root", { revoked_keys: [keys.roots[2].record.key_id] }],
  ["a revoked online key", "online_keys", { revoked_keys: [online.key_id] }],
  ["a revoked release key", "release_keys", { revoked_keys: [keys.release.record.key_id] }],
  ["a recovery without a reason", "recovery.reason", { recovery: { from_epoch: 1, opened_at: at(NOW) } }],
  ["a field too many", "content", { note: "hello" }],
])("a bundle with %s is refused at %s (SNAP-8)", (_, field, changes) => {
  expect(checkTrustBundle({ ...good, ...changes }, null)).toMatchObject({ field });
});

test("intents, once required, stay required, also for a bundle that every root key signed", () => {
  const without = bundleOf(keys, { intents_required: false });
  const frame = bundleFrame(keys, { bundle: without, signers: keys.roots, header: { config_version: 2 } });
  const over = (previous: TrustBundle | null) => verifySnapshot(frame, contextOf(keys, { bundle: previous }));
  expect(over(good)).toMatchObject({ step: 11, code: "SNAPSHOT_CONTENT_INVALID", field: "intents_required" });
  expect(over(without).kind).toBe("accepted");
});

test("an expired bundle still binds the next one", () => {
  const without = bundleOf(keys, { intents_required: false });
  const frame = bundleFrame(keys, { bundle: without, header: { config_version: 2 } });
  const context = contextOf(keys, { bundle: null, previous: good });
  expect(verifySnapshot(frame, context)).toMatchObject({ step: 11, field: "intents_required" });
});

test("a key, once revoked, stays revoked, also for a bundle that every root key signed (SNAP-8)", () => {
  const revoked = bundleOf(keys, { revoked_keys: [newSigner().record.key_id] });
  const frame = (bundle: TrustBundle) =>
    bundleFrame(keys, { bundle, signers: keys.roots, header: { config_version: 2 } });
  const over = (bundle: TrustBundle) => verifySnapshot(frame(bundle), contextOf(keys, { previous: revoked }));
  expect(over(good)).toMatchObject({ step: 11, code: "SNAPSHOT_CONTENT_INVALID", field: "revoked_keys" });
  const more = [...revoked.revoked_keys, newSigner().record.key_id];
  expect(over(bundleOf(keys, { revoked_keys: more })).kind).toBe("accepted");
});
