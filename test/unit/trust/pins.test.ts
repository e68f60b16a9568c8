import fc from "fast-check";
import { expect, test } from "vitest";
import {
  caPinOf,
  type EnrollmentToken,
  formatToken,
  parseToken,
  rootPinOf,
} from "../../../src/trust/pins.ts";
import { digestOfJson } from "../../../src/trust/digest.ts";
import { codeOf } from "../../support/refusals.ts";
import { bundleOf, CLUSTER, newKeys, newSigner } from "../../support/trust.ts";

const token: EnrollmentToken = {
  clusterId: CLUSTER,
  caPin: caPinOf(Buffer.from("a certificate")),
  rootPin: rootPinOf(bundleOf(newKeys()).root),
  minBundleVersion: 3,
  secret: "s".repeat(43),
};
const text = formatToken(token);

test("an enrollment token comes back from its text, white space around it ignored", () => {
  expect(parseToken(text)).toEqual(token);
  expect(parseToken(` ${text}\n`)).toEqual(token);
  const secret = fc.stringMatching(/^[A-Za-z0-9_-]{43}$/);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1e12 }), secret, (minBundleVersion, secret) => {
      const given = { ...token, minBundleVersion, secret };
      expect(parseToken(formatToken(given))).toEqual(given);
    }),
  );
});

test.each([
  ["nothing", ""],
  ["another format", text.replace("fl1.", "fl2.")],
  ["a part too few", text.slice(0, text.lastIndexOf("."))],
  ["a part too many", `${text}.more`],
  ["a cluster that is no id", text.replace(CLUSTER, "cluster")],
  ["a pin cut short", text.replace(token.caPin, token.caPin.slice(1))],
  ["a pin in capitals", text.replace(token.rootPin, "A".repeat(64))],
  ["a minimum of 0", text.replace(".3.", ".0.")],
  ["a minimum in hexadecimal", text.replace(".3.", ".0x3.")],
  ["a minimum with an exponent", text.replace(".3.", ".3e0.")],
  ["no minimum", text.replace(".3.", "..")],
  ["a short secret", text.slice(0, -1)],
  ["a secret with other characters", `${text.slice(0, -1)}/`],
])("a token with %s is refused", (_, bad) => {
  expect(codeOf(() => parseToken(bad))).toBe("INVALID_INPUT");
});

test("a root pin stands for the set of keys and the threshold, not for their order", () => {
  const { root } = bundleOf(newKeys());
  const pin = rootPinOf(root);
  expect(rootPinOf({ ...root, keys: root.keys.toReversed() })).toBe(pin);
  expect(rootPinOf({ ...root, threshold: 1 })).not.toBe(pin);
  expect(rootPinOf({ ...root, keys: root.keys.slice(1) })).not.toBe(pin);
  expect(rootPinOf({ ...root, keys: [...root.keys.slice(1), newSigner().record] })).not.toBe(pin);
});

test.each([
  ["a CA pin with a character before it", { caPin: `0${token.caPin}` }],
  ["a root pin with a character behind it", { rootPin: `${token.rootPin}0` }],
  ["a secret of 44 characters", { secret: "s".repeat(44) }],
  ["a secret behind another character", { secret: `/${"s".repeat(43)}` }],
  ["a secret before another character", { secret: `${"s".repeat(43)}/` }],
])("a token with %s is refused", (_, changes) => {
  expect(codeOf(() => parseToken(formatToken({ ...token, ...changes })))).toBe("INVALID_INPUT");
});

test("a root pin is the hash of the threshold and of the keys in the order of their ids", () => {
  const { root } = bundleOf(newKeys());
  const keys = root.keys.toSorted((one, other) => one.key_id.localeCompare(other.key_id));
  expect(rootPinOf(root)).toBe(digestOfJson({ keys, threshold: 2 }).slice("sha256:".length));
});
