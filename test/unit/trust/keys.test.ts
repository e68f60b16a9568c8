import { createPublicKey, generateKeyPairSync, verify, type KeyObject } from "node:crypto";
import { expect, test } from "vitest";
import type { KeyRecord } from "../../../src/core/snapshot/trust-bundle.ts";
import {
  generateSigner,
  keyIdOf,
  loadPublicKey,
  RSA_PADDING,
  signerFromPem,
} from "../../../src/trust/keys.ts";
import { codeOf, refusalOf } from "../../support/refusals.ts";

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
const pemOf = (key: KeyObject): string => key.export({ type: "pkcs8", format: "pem" }).toString();
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
  const pem = typeof key === "string" ? key : pemOf(key);
  expect(codeOf(() => signerFromPem(pem))).toBe("INVALID_INPUT");
});

test.each(["RS256", "RSA-PSS"] as const)(
  "an RSA key signs with the algorithm of its record: %s",
  (algorithm) => {
    const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    const { record, sign } = signerFromPem(pemOf(privateKey), () => algorithm);
    expect(record).toEqual(recordOf(spkiOf(privateKey), algorithm));
    const bytes = Buffer.from("signed");
    const holds = (other: keyof typeof RSA_PADDING) =>
      verify("sha256", bytes, { key: loadPublicKey(record), ...RSA_PADDING[other] }, sign(bytes));
    expect(holds(algorithm)).toBe(true);
    expect(holds(algorithm === "RS256" ? "RSA-PSS" : "RS256")).toBe(false);
  },
);

test("an RSA key without an algorithm, and another kind of key with one, are refused as no Ed25519 key", () => {
  const strong = pemOf(generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey);
  const curve = pemOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey);
  const refusal = { code: "INVALID_INPUT", message: "not an Ed25519 key" };
  expect(refusalOf(() => signerFromPem(strong))).toMatchObject(refusal);
  expect(refusalOf(() => signerFromPem(strong, () => null))).toMatchObject(refusal);
  expect(refusalOf(() => signerFromPem(curve, () => "RS256"))).toMatchObject(refusal);
});

test("a private RSA key that is too weak to be trusted signs nothing", () => {
  const weak = pemOf(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey);
  expect(codeOf(() => signerFromPem(weak, () => "RS256"))).toBe("BUNDLE_REFUSED");
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
  ["a point spelled as p + 2", `ef${"ff".repeat(30)}7f`],
  ["a point spelled as p + 3", `f0${"ff".repeat(30)}7f`],
])("an Ed25519 point that anyone can sign for is refused: %s", (_, point) => {
  const refusal = refusalOf(() => loadPublicKey(ed25519(point)));
  expect(refusal.code).toBe("BUNDLE_REFUSED");
  expect(refusal.message).toMatch(/small-order point$|its point is not in its one form$/);
});

test("the largest reduced y coordinates beside those of small order are loaded", () => {
  for (const last of ["eb", "e0"]) loadPublicKey(ed25519(`${last}${"ff".repeat(30)}7f`));
});

const jwkOf = (bits: number) => {
  const n = (2n ** BigInt(bits - 1) + 1n).toString(16);
  return spkiOf({ format: "jwk", key: { kty: "RSA", n: base64urlOf(n), e: "AQAB" } });
};
const base64urlOf = (hex: string): string =>
  Buffer.from(hex.padStart(hex.length + (hex.length % 2), "0"), "hex").toString("base64url");

test("RSA of 2048 to 4096 bits loads, and is refused with its bound outside", () => {
  for (const bits of [2048, 4096]) loadPublicKey(recordOf(jwkOf(bits), "RS256"));
  const messageOf = (bits: number) => refusalOf(() => loadPublicKey(recordOf(jwkOf(bits), "RS256"))).message;
  expect(messageOf(2047)).toMatch(/RSA below 2048 bits$/);
  expect(messageOf(4097)).toMatch(/RSA above 4096 bits: its signatures do not fit a frame$/);
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

test("a refused key is named by the first twelve characters of its id, with the weakness", () => {
  const record = recordOf(rsa({ modulusLength: 2048, publicExponent: 3 }), "RSA-PSS");
  const { message } = refusalOf(() => loadPublicKey(record));
  expect(message).toBe(`key ${record.key_id.slice(0, 12)} refused: RSA exponent below 65537`);
});
