import { expect, test } from "vitest";
import { COMMAND_DOMAIN } from "../../../src/core/protocol/command.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { signCommand, verifyCommand } from "../../../src/trust/command.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { decodeFrame, encodeFrame, signFrame } from "../../../src/trust/frame.ts";
import { SNAPSHOT_DOMAIN } from "../../../src/trust/snapshot-signer.ts";
import { codeOf } from "../../support/refusals.ts";
import { at, bundleOf, commandOf, newKeys, newSigner, NOW, payloadOf } from "../../support/trust.ts";

const keys = newKeys();
const bundle = bundleOf(keys);
const online = bundle.online_keys[0]!;
const time = { local: NOW, effective: NOW };
const draft = commandOf();
const good = signCommand(draft, payloadOf(), keys.online);

test("a command of the online key is believed, header and payload (SNAP-16)", () => {
  const { header, payload } = verifyCommand(good, bundle, time);
  expect(header).toMatchObject({ ...draft, signer_key_id: keys.online.record.key_id });
  expect(payload).toEqual(payloadOf());
});

test.each([
  ["a release key", signCommand(draft, payloadOf(), keys.release), bundle],
  ["a root key", signCommand(draft, payloadOf(), keys.roots[0]), bundle],
  ["a stranger", signCommand(draft, payloadOf(), newSigner()), bundle],
  ["a revoked key", good, bundleOf(keys, { revoked_keys: [keys.online.record.key_id] })],
  ["an expired key", good, bundleOf(keys, { online_keys: [{ ...online, valid_until: at(NOW) }] })],
  ["a key for other scopes", good, bundleOf(keys, { online_keys: [{ ...online, scopes: ["qos_policy"] }] })],
])("a command of %s is not believed", (_, frame, trusted) => {
  expect(codeOf(() => verifyCommand(frame, trusted, time))).toBe("COMMAND_UNTRUSTED");
});

const signed = (
  changes: object,
  payload: Uint8Array = canonicalBytes(payloadOf()),
  domain = COMMAND_DOMAIN,
) => {
  const header = {
    ...draft,
    signer_key_id: keys.online.record.key_id,
    content_hash: digestOf(payload),
    ...changes,
  };
  return signFrame(domain, header, payload, [keys.online]);
};
const payloadWith = (changes: object) => canonicalBytes({ ...payloadOf(), ...changes });

/** The same payload to JSON.parse, which takes the last of two. */
const twice = Buffer.from(canonicalBytes(payloadOf()).toString().replace("{", '{"upgrade_id":"other",'));

test("a command signed for another domain is not believed", () => {
  expect(codeOf(() => verifyCommand(signed({}, undefined, SNAPSHOT_DOMAIN), bundle, time))).toBe(
    "COMMAND_UNTRUSTED",
  );
  expect(codeOf(() => verifyCommand(signed({}), bundle, time))).toBe("accepted");
});

test.each([
  ["another type", signed({ command_type: 8 })],
  ["a sequence of 0", signed({ sequence: 0 })],
  ["a sequence beyond 2^53", signed({ sequence: 2 ** 53 })],
  ["a field too many", signed({ force: true })],
  ["30 February as its end", signed({ expires_at: "2026-02-30T00:00:00Z" })],
  ["a payload swapped", encodeFrame({ ...decodeFrame(good), content: payloadWith({ upgrade_id: "other" }) })],
  ["a payload that is no JSON", signed({}, Buffer.from("hello"))],
  ["a payload with duplicate keys", signed({}, twice)],
  ["a payload with a field too many", signed({}, payloadWith({ shell: "id" }))],
  ["an upgrade id that is a path", signed({}, payloadWith({ upgrade_id: "../../etc" }))],
  [
    "a config outside its folder",
    signed({}, payloadWith({ configs: [{ path: "../x", mode: "0644", sha256: draft.fingerprint }] })),
  ],
  ["no frame", Buffer.from("hello")],
])("a command with %s is malformed, although the online key signed it", (_, frame) => {
  expect(codeOf(() => verifyCommand(frame, bundle, time))).toBe("COMMAND_MALFORMED");
});
