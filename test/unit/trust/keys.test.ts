import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { expect, test } from "vitest";
import type { KeyRecord } from "../../../src/core/snapshot/trust-bundle.ts";
import { generateSigner, keyIdOf, loadPublicKey, signerFromPem } from "../../../src/trust/keys.ts";
import { codeOf } from "../../support/refusals.ts";

const ED25519_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

const recordOf = (spki: Buffer, algorithm: KeyRecord["algorithm"] = "Ed25519"): KeyRecord => ({
  key_id: keyIdOf(spki),
  algorithm,
  public_key: spki.toString("base64"),
});
const ed25519 = (pointHex: string): KeyRecord =>
  recordOf(Buffer.concat([ED25519_PREFIX, Buffer.from(pointHex, "hex")]));
const spkiOf = (key: Parameters<typeof createPublicKey>[0]): Buffer =>
  createPublicKey(key).export({ type: "spki", format: "der" });
const rsa = (options: { modulusLength: number; publicExponent?: number }): Buffer =>
  spkiOf(generateKeyPairSync("rsa", options).privateKey);

test("a generated key loads, and its PEM gives the same signer back", () => {
  const { signer, pem } = generateSigner();
  expect(loadPublicKey(signer.record).asymmetricKeyType).toBe("ed25519");
  expect(signerFromPem(pem).record).toEqual(signer.record);
});

test.each([
  ["no PEM", "nothing"],
  ["another kind of key", generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey],
])("a private key file with %s is refused", (_, key) => {
  const pem = typeof key === "string" ? key : key.export({ type: "pkcs8", format: "pem" }).toString();
  expect(codeOf(() => signerFromPem(pem))).toBe("INVALID_INPUT");
});

test.each([
  ["order 1", `01${"00".repeat(31)}`],
  ["order 1 with its sign bit", `01${"00".repeat(30)}80`],
  ["order 2", `ec${"ff".repeat(30)}7f`],
  ["order 2 with its sign bit", `ec${"ff".repeat(31)}`],
  ["order 4", "00".repeat(32)],
  ["order 4 with its sign bit", `${"00".repeat(31)}80`],
  ["order 8", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"],
  ["order 8 with its sign bit", "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85"],
  ["the other of order 8", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"],
  [
    "the other of order 8 with its sign bit",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
  ],
  ["order 4 spelled as p", `ed${"ff".repeat(30)}7f`],
  ["order 1 spelled as p + 1", `ee${"ff".repeat(30)}7f`],
  ["order 1 spelled as p + 1 with its sign bit", `ee${"ff".repeat(31)}`],
  ["a point spelled as p + 3", `f0${"ff".repeat(30)}7f`],
])("an Ed25519 point that anyone can sign for is refused: %s", (_, point) => {
  expect(codeOf(() => loadPublicKey(ed25519(point)))).toBe("BUNDLE_REFUSED");
});

test("one key cannot stand under two ids: other spellings of its bytes are refused (python-tuf)", () => {
  const { signer } = generateSigner();
  const spki = Buffer.from(signer.record.public_key, "base64");
  const longLength = Buffer.concat([Buffer.from("30812a300506032b6570032100", "hex"), spki.subarray(-32)]);
  const trailing = Buffer.concat([spki, Buffer.from([0])]);
  for (const spelling of [longLength, trailing]) {
    expect(
      createPublicKey({ key: spelling, type: "spki", format: "der" }).equals(
        createPublicKey({ key: spki, type: "spki", format: "der" }),
      ),
    ).toBe(true);
    expect(codeOf(() => loadPublicKey(recordOf(spelling)))).toBe("BUNDLE_REFUSED");
  }
});

test("a key id that is not the hash of the key is refused", () => {
  const [mine, other] = [generateSigner().signer.record, generateSigner().signer.record];
  expect(codeOf(() => loadPublicKey({ ...mine, key_id: other.key_id }))).toBe("BUNDLE_REFUSED");
  expect(codeOf(() => loadPublicKey({ ...mine, public_key: other.public_key }))).toBe("BUNDLE_REFUSED");
});

test("RSA of 2048 bits loads for both of its algorithms", () => {
  const spki = rsa({ modulusLength: 2048 });
  expect(loadPublicKey(recordOf(spki, "RS256")).asymmetricKeyType).toBe("rsa");
  expect(loadPublicKey(recordOf(spki, "RSA-PSS")).asymmetricKeyType).toBe("rsa");
});

test.each<[string, KeyRecord]>([
  ["RSA under Ed25519's name", recordOf(rsa({ modulusLength: 2048 }))],
  ["Ed25519 under RSA's name", { ...generateSigner().signer.record, algorithm: "RS256" }],
  ["P-256", recordOf(spkiOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey))],
  ["X25519", recordOf(spkiOf(generateKeyPairSync("x25519").privateKey))],
  ["RSA that can be factored", recordOf(rsa({ modulusLength: 1024 }), "RS256")],
  ["RSA with the exponent 3", recordOf(rsa({ modulusLength: 2048, publicExponent: 3 }), "RSA-PSS")],
  ["bytes that are no key", recordOf(Buffer.from("not a key"))],
])("a record is refused when it holds %s", (_, record) => {
  expect(codeOf(() => loadPublicKey(record))).toBe("BUNDLE_REFUSED");
});
