import { createHash, generateKeyPairSync, sign, constants } from "node:crypto";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { KeyRecord } from "../../../src/core/snapshot/trust-bundle.ts";
import { verifySignature } from "../../../src/trust/frame-signatures.ts";
import { decodeFrame, encodeFrame, signFrame } from "../../../src/trust/frame.ts";
import { keyIdOf, loadPublicKey, type Signer } from "../../../src/trust/keys.ts";
import { codeOf } from "../../support/refusals.ts";
import { newSigner } from "../../support/trust.ts";

const signer = newSigner();
const content = Buffer.from("any bytes at all");
const frame = signFrame("test/v1", { a: 1 }, content, [signer]);
const parts = decodeFrame(frame);

const u32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
};
const raw = (...pieces: (Buffer | string)[]): Buffer =>
  Buffer.concat([Buffer.from("FLF1"), ...pieces.flatMap((piece) => [u32(piece.length), Buffer.from(piece)])]);
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const withSpareBits = (last: string): string => BASE64[BASE64.indexOf(last) ^ 1]!;
const signatureText = JSON.stringify(parts.signatures);

test("a frame holds header, content and signatures as they were put in (SNAP-1)", () => {
  expect(parts.header.toString()).toBe('{"a":1}');
  expect(parts.content).toEqual(content);
  expect(parts.signatures.map(({ key_id }) => key_id)).toEqual([signer.record.key_id]);
  expect(encodeFrame(parts)).toEqual(frame);
});

test("a frame cut at any place is refused, and so is one with a byte more", () => {
  for (let length = 0; length < frame.length; length++) {
    expect(codeOf(() => decodeFrame(frame.subarray(0, length)))).toBe("SNAPSHOT_MALFORMED");
  }
  expect(codeOf(() => decodeFrame(Buffer.concat([frame, Buffer.from([0])])))).toBe("SNAPSHOT_MALFORMED");
});

test.each<[string, Buffer]>([
  ["another magic", Buffer.concat([Buffer.from("FLF2"), frame.subarray(4)])],
  ["a header over its bound", raw(Buffer.alloc(LIMITS.snapshotHeaderBytesMax + 1), "", signatureText)],
  ["content over its bound", raw("{}", Buffer.alloc(LIMITS.snapshotContentBytesMax + 1), signatureText)],
  ["a length that no frame has", Buffer.concat([Buffer.from("FLF1"), u32(0xffffffff), Buffer.alloc(64)])],
  ["signatures over their bound", raw("{}", "", `${signatureText}${" ".repeat(16 * 1024)}`)],
  ["no signature", raw("{}", "", "[]")],
  ["17 signatures", raw("{}", "", JSON.stringify(Array(17).fill(parts.signatures[0])))],
  ["white space in its signatures", raw("{}", "", ` ${signatureText}`)],
  ["a field more in a signature", raw("{}", "", JSON.stringify([{ ...parts.signatures[0], x: 1 }]))],
  ["spare bits set in its base64", raw("{}", "", signatureText.replace(/.(?===)/, withSpareBits))],
  ["base64 with a newline", raw("{}", "", signatureText.replace("==", "==\\n"))],
])("a frame with %s is refused", (_, bytes) => {
  expect(codeOf(() => decodeFrame(bytes))).toBe("SNAPSHOT_MALFORMED");
});

test("a header or content over its bound is not signed either", () => {
  const long = "x".repeat(LIMITS.snapshotHeaderBytesMax);
  expect(codeOf(() => signFrame("d", { long }, content, [signer]))).toBe("SNAPSHOT_TOO_LARGE");
  const much = Buffer.alloc(LIMITS.snapshotContentBytesMax + 1);
  expect(codeOf(() => signFrame("d", {}, much, [signer]))).toBe("SNAPSHOT_TOO_LARGE");
});

test("a signature holds for its domain and its header only", () => {
  const key = loadPublicKey(signer.record);
  const [signature] = parts.signatures;
  const verifies = (domain: string, header: Buffer) =>
    verifySignature(domain, header, signature!, "Ed25519", key);
  expect(verifies("test/v1", parts.header)).toBe(true);
  expect(verifies("test/v2", parts.header)).toBe(false);
  expect(verifies("test/v1", Buffer.from('{"a":2}'))).toBe(false);
  expect(verifies("test/v", Buffer.concat([Buffer.from("1\0"), parts.header]))).toBe(false);
});

const { privateKey: rsaKey, publicKey: rsaPublic } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const spki = rsaPublic.export({ type: "spki", format: "der" });
const rsaSigner = (algorithm: KeyRecord["algorithm"], padding: number): Signer => ({
  record: { key_id: keyIdOf(spki), algorithm, public_key: spki.toString("base64") },
  sign: (bytes) => sign("sha256", bytes, { key: rsaKey, padding, saltLength: 32 }),
});

test.each([
  ["RS256", constants.RSA_PKCS1_PADDING, "RSA-PSS"],
  ["RSA-PSS", constants.RSA_PKCS1_PSS_PADDING, "RS256"],
] as const)("%s verifies under its own name and not under the other's", (algorithm, padding, other) => {
  const { header, signatures } = decodeFrame(
    signFrame("test/v1", { a: 1 }, content, [rsaSigner(algorithm, padding)]),
  );
  const verifies = (name: KeyRecord["algorithm"]) =>
    verifySignature("test/v1", header, signatures[0]!, name, rsaPublic);
  expect(verifies(algorithm)).toBe(true);
  expect(verifies(other)).toBe(false);
  expect(createHash("sha256").update(spki).digest("hex")).toBe(signatures[0]!.key_id);
});
