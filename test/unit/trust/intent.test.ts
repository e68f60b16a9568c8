import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { INTENT_DOMAIN } from "../../../src/core/protocol/intent.ts";
import { COMMAND_DOMAIN } from "../../../src/core/protocol/command.ts";
import { ProfileId } from "../../../src/core/ids.ts";
import { encodeFrame, decodeFrame, signFrame } from "../../../src/trust/frame.ts";
import { intentDigest, runDigest, signIntent, verifyIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { codeOf } from "../../support/refusals.ts";
import { at, bundleOf, HOUR_MS, intentOf, newKeys, newSigner, NOW, RUN } from "../../support/trust.ts";

const keys = newKeys();
const bundle = bundleOf(keys);
const time = { local: NOW, effective: NOW };
const second = newSigner();
const twoReleaseKeys = bundleOf(keys, {
  release_keys: [...bundle.release_keys, { ...bundle.release_keys[0]!, ...second.record, name: "second" }],
});

test("an intent of a release key is believed, window and all (SNAP-15)", () => {
  const frame = signIntent(intentOf(), keys.release);
  expect(verifyIntent(frame, bundle, time)).toEqual({ intent: intentOf(), digest: intentDigest(frame) });
});

test("the digest names the wish: a second signature does not make a second intent", () => {
  const digests = [keys.release, second].map((signer) => {
    const frame = signIntent(intentOf(), signer);
    return verifyIntent(frame, twoReleaseKeys, time).digest;
  });
  expect(digests[0]).toBe(digests[1]);
  expect(intentDigest(signIntent(intentOf({ serial: 8 }), keys.release))).not.toBe(digests[0]);
});

const signed = (header: Json, signer: Signer = keys.release, domain = INTENT_DOMAIN, content = "") =>
  signFrame(domain, header, Buffer.from(content), [signer]);
const other = bundleOf(keys, {
  release_keys: [{ ...bundle.release_keys[0]!, profiles: [ProfileId.parse("other")] }],
});
const expired = bundleOf(keys, { release_keys: [{ ...bundle.release_keys[0]!, valid_until: at(NOW) }] });
const revoked = bundleOf(keys, { revoked_keys: [keys.release.record.key_id] });
const notCanonical = encodeFrame({
  ...decodeFrame(signIntent(intentOf(), keys.release)),
  header: Buffer.from(JSON.stringify(intentOf(), undefined, 1)),
});

test.each([
  ["of the online key", signIntent(intentOf(), keys.online), bundle],
  ["of a root key", signIntent(intentOf(), keys.roots[0]), bundle],
  ["of a stranger", signIntent(intentOf(), second), bundle],
  ["of a revoked key", signIntent(intentOf(), keys.release), revoked],
  ["of an expired key", signIntent(intentOf(), keys.release), expired],
  ["of a key for another profile", signIntent(intentOf(), keys.release), other],
  ["signed as a command", signed(intentOf(), keys.release, COMMAND_DOMAIN), bundle],
  ["with content behind it", signed(intentOf(), keys.release, INTENT_DOMAIN, "{}"), bundle],
  ["with a field too many", signed({ ...intentOf(), force: true }), bundle],
  ["with no attempts", signed(intentOf({ max_attempts: 0 })), bundle],
  ["with a serial beyond 2^53", signed({ ...intentOf(), serial: 2 ** 53 }), bundle],
  ["with 31 April in its window", signed(intentOf({ not_after: "2026-04-31T00:00:00Z" })), bundle],
  ["whose header is not canonical", notCanonical, bundle],
  ["that is no frame", Buffer.from("hello"), bundle],
])("an intent %s is not believed", (_, frame, trusted) => {
  expect(codeOf(() => verifyIntent(frame, trusted, time))).toBe("INTENT_UNTRUSTED");
});

test("a key that expired by signed time is expired, though the clock was set back (SNAP-17)", () => {
  const frame = signIntent(intentOf(), keys.release);
  const late = { local: NOW, effective: NOW + 2000 * HOUR_MS };
  expect(codeOf(() => verifyIntent(frame, bundle, late))).toBe("INTENT_UNTRUSTED");
});

test("the run digest covers arguments, environment and user", () => {
  const digests = [RUN, { ...RUN, args: [] }, { ...RUN, env: {} }, { ...RUN, user: "app" }].map(runDigest);
  expect(new Set(digests).size).toBe(4);
  expect(runDigest({ user: null, env: { MODE: "plain" }, args: ["--port", "8080"] })).toBe(digests[0]);
});
