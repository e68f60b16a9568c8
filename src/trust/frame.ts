/**
 * The one framing of signed bytes (SNAP-1): header, content, signatures, each behind its length.
 *
 *   "FLF1" · u32 header length · header (canonical JSON) · u32 content length · content · u32 · signatures (JSON)
 *
 * 1. Signatures cover a domain tag and the header; the header carries the content's hash.
 * 2. Lengths are checked against bounds before anything is sliced, and nothing may follow the last part.
 * 3. A frame has one sequence of bytes: its signatures are canonical too, their base64 included.
 * 4. Parsing a frame proves nothing: see verify-*.ts.
 */
import { verify, constants, type KeyObject } from "node:crypto";
import { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import { KeyId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import type { SignatureAlgorithm } from "../core/snapshot/envelope.ts";
import { canonicalBytes } from "./canonical-json.ts";
import type { Signer } from "./keys.ts";
import { readerFor } from "./reader/read-along.ts";
import { parseCanonical } from "./strict-json.ts";

const MAGIC = Buffer.from("FLF1", "latin1");
const SIGNATURE_BLOCK_BYTES_MAX = 16 * 1024;

/** `Buffer` skips what is no base64 and ignores the spare bits of the last character. */
const ExactBase64 = z
  .string()
  .max(1024)
  .refine((text) => Buffer.from(text, "base64").toString("base64") === text, "not exact base64");

const FrameSignatures = z
  .array(z.strictObject({ key_id: KeyId, signature: ExactBase64 }))
  .min(1)
  .max(LIMITS.snapshotSignaturesMax);
export type FrameSignatures = z.infer<typeof FrameSignatures>;

const readSignatures = readerFor(FrameSignatures, { isSearched: false });

export interface Frame {
  readonly header: Buffer;
  readonly content: Buffer;
  readonly signatures: FrameSignatures;
}

export function signFrame(
  domain: string,
  header: Json,
  content: Uint8Array,
  signers: readonly Signer[],
): Buffer {
  if (content.length > LIMITS.snapshotContentBytesMax) throw tooLarge("content");
  const parts = signHeader(domain, header, signers);
  return joinFrame(parts.header, Buffer.from(content), parts.signatures);
}

/** A frame's bytes without its content, for who keeps that apart. */
export function signHeader(
  domain: string,
  header: Json,
  signers: readonly Signer[],
): { readonly header: Buffer; readonly signatures: Buffer } {
  const headerBytes = canonicalBytes(header);
  if (headerBytes.length > LIMITS.snapshotHeaderBytesMax) throw tooLarge("header");
  const signed = signedBytes(domain, headerBytes);
  const signatures = canonicalBytes(signers.map((signer) => signatureBy(signer, signed)));
  return { header: headerBytes, signatures };
}

/** Over the header as it stands: what was signed before stays signed. */
export function appendSignature(domain: string, bytes: Uint8Array, signer: Signer): Buffer {
  const frame = decodeFrame(bytes);
  const signature = signatureBy(signer, signedBytes(domain, frame.header));
  return encodeFrame({ ...frame, signatures: [...frame.signatures, signature] });
}

const signatureBy = (signer: Signer, signed: Uint8Array): FrameSignatures[number] => ({
  key_id: signer.record.key_id,
  signature: signer.sign(signed).toString("base64"),
});

export const encodeFrame = (frame: Frame): Buffer =>
  joinFrame(frame.header, frame.content, canonicalBytes(frame.signatures));

/** The frame of parts that were kept apart: nodes share a content, each has a header of its own. */
export const joinFrame = (header: Buffer, content: Buffer, signatures: Buffer): Buffer =>
  Buffer.concat([MAGIC, ...[header, content, signatures].flatMap((part) => [lengthOf(part), part])]);

function lengthOf(part: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(part.length);
  return length;
}

export function decodeFrame(input: Uint8Array): Frame {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.byteLength);
  if (!bytes.subarray(0, 4).equals(MAGIC)) throw malformed("not a frame");
  let offset = 4;
  const take = (what: string, max: number): Buffer => {
    if (offset + 4 > bytes.length) throw malformed(`cut before the ${what}`);
    const length = bytes.readUInt32BE(offset);
    offset += 4;
    if (length > max) throw malformed(`${what} over its bound of ${max} bytes`);
    if (offset + length > bytes.length) throw malformed(`cut inside the ${what}`);
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  const header = take("header", LIMITS.snapshotHeaderBytesMax);
  const content = take("content", LIMITS.snapshotContentBytesMax);
  const signatureBytes = take("signatures", SIGNATURE_BLOCK_BYTES_MAX);
  if (offset !== bytes.length) throw malformed("bytes after the signatures");
  return { header, content, signatures: signaturesIn(signatureBytes) };
}

/** Invariant 3. */
function signaturesIn(bytes: Buffer): FrameSignatures {
  const read = readSignatures(bytes);
  if (read !== null) return read.value;
  const parsed = FrameSignatures.safeParse(parseCanonical(bytes));
  if (!parsed.success) throw malformed("signatures");
  return parsed.data;
}

export function verifySignature(
  domain: string,
  header: Uint8Array,
  signature: string,
  algorithm: SignatureAlgorithm,
  key: KeyObject,
): boolean {
  const bytes = Buffer.from(signature, "base64");
  const signed = signedBytes(domain, header);
  if (algorithm === "Ed25519") return verify(null, signed, key, bytes);
  const padding = algorithm === "RS256" ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_PSS_PADDING;
  return verify("sha256", signed, { key, padding, saltLength: 32 }, bytes);
}

const signedBytes = (domain: string, header: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(domain, "utf8"), Buffer.from([0]), header]);

const tooLarge = (what: string): FairleadError =>
  new FairleadError("SNAPSHOT_TOO_LARGE", `nothing was signed: the ${what} is over its bound`);
const malformed = (why: string): FairleadError =>
  new FairleadError("SNAPSHOT_MALFORMED", `frame refused: ${why}`);
