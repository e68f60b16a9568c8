import { createHash, generateKeyPairSync, sign, constants } from "node:crypto";
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { KeyRecord } from "../../../src/core/snapshot/trust-bundle.ts";
import { verifySignature } from "../../../src/trust/frame-signatures.ts";
import { appendSignature, decodeFrame, encodeFrame, signFrame } from "../../../src/trust/frame.ts";
import { keyIdOf, loadPublicKey, type Signer } from "../../../src/trust/keys.ts";
import { codeOf, refusalOf } from "../../support/refusals.ts";
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

const lengths = Buffer.from("FLF1");
const HEADER_MAX = LIMITS.snapshotHeaderBytesMax;
const CONTENT_MAX = LIMITS.snapshotContentBytesMax;

test.each<[string, Buffer]>([
  ["cut before the header", Buffer.concat([lengths, Buffer.alloc(3)])],
  ["cut inside the header", Buffer.concat([lengths, u32(2), Buffer.from("{")])],
  ["cut before the content", raw("{}")],
  ["cut inside the content", Buffer.concat([raw("{}"), u32(2), Buffer.from("x")])],
  ["cut before the signatures", Buffer.concat([raw("{}", ""), Buffer.alloc(3)])],
  ["cut inside the signatures", Buffer.concat([raw("{}", ""), u32(2), Buffer.from("[")])],
  [`header over its bound of ${HEADER_MAX} bytes`, Buffer.concat([lengths, u32(HEADER_MAX + 1)])],
  [`content over its bound of ${CONTENT_MAX} bytes`, Buffer.concat([raw("{}"), u32(CONTENT_MAX + 1)])],
  ["signatures over its bound of 16384 bytes", Buffer.concat([raw("{}", ""), u32(16 * 1024 + 1)])],
  ["signatures", raw("{}", "", "[]")],
])("the refusal of a frame says: %s", (why, bytes) => {
  expect(refusalOf(() => decodeFrame(bytes)).message).toBe(`frame refused: ${why}`);
});

test("signatures of no bytes are refused as no JSON, not as cut off", () => {
  expect(refusalOf(() => decodeFrame(raw("{}", "", ""))).message).toBe("bytes refused: not JSON");
});

test("a header and a content of exactly their bound are signed and read", () => {
  const long = "x".repeat(HEADER_MAX - '{"long":""}'.length);
  const read = decodeFrame(signFrame("d", { long }, Buffer.alloc(CONTENT_MAX), [signer]));
  expect([read.header.length, read.content.length]).toEqual([HEADER_MAX, CONTENT_MAX]);
});

test("a signature is appended over the same header, and those before it stay", () => {
  const second = newSigner();
  const both = decodeFrame(appendSignature("test/v1", frame, second));
  expect(both).toMatchObject({ header: parts.header, content: parts.content });
  expect(both.signatures).toHaveLength(2);
  expect(both.signatures[0]).toEqual(parts.signatures[0]);
  const [, added] = both.signatures;
  expect(added!.key_id).toBe(second.record.key_id);
  expect(verifySignature("test/v1", parts.header, added!, "Ed25519", loadPublicKey(second.record))).toBe(
    true,
  );
});

test("the refusal to sign says which part is over its bound", () => {
  const messageOf = (header: object, bytes: number) =>
    refusalOf(() => signFrame("d", header as { long?: string }, Buffer.alloc(bytes), [signer])).message;
  expect(messageOf({ long: "x".repeat(HEADER_MAX) }, 0)).toBe(
    "nothing was signed: the header is over its bound",
  );
  expect(messageOf({}, CONTENT_MAX + 1)).toBe("nothing was signed: the content is over its bound");
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
