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
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { FrameSignatures, signAlone, signTogether } from "./frame-signatures.ts";
import type { Signer } from "./keys.ts";
import { readerFor } from "./reader/read-along.ts";
import { parseCanonical } from "./strict-json.ts";

const MAGIC = Buffer.from("FLF1");
const SIGNATURE_BLOCK_BYTES_MAX = 16 * 1024;

const readSignatures = readerFor(FrameSignatures, { isSearched: false });

export interface Frame {
  readonly header: Buffer;
  readonly content: Buffer;
  readonly signatures: FrameSignatures;
}

export interface FrameDraft {
  readonly header: Json;
  readonly content: Uint8Array;
}

export const signFrame = (
  domain: string,
  header: Json,
  content: Uint8Array,
  signers: readonly Signer[],
): Buffer => signFrames(domain, [{ header, content }], signers)[0]!;

/** In their order. They share signatures: see frame-signatures.ts. */
export function signFrames(
  domain: string,
  drafts: readonly FrameDraft[],
  signers: readonly Signer[],
): Buffer[] {
  const headers = drafts.map(({ header, content }) => {
    if (content.length > LIMITS.snapshotContentBytesMax) throw tooLarge("content");
    return headerBytes(header);
  });
  const signatures = signHeaders(domain, headers, signers);
  return drafts.map(({ content }, at) => joinFrame(headers[at]!, Buffer.from(content), signatures[at]!));
}

export function headerBytes(header: Json): Buffer {
  const bytes = canonicalBytes(header);
  if (bytes.length > LIMITS.snapshotHeaderBytesMax) throw tooLarge("header");
  return bytes;
}

/** The frames' last parts, for who keeps their contents apart. */
export const signHeaders = (
  domain: string,
  headers: readonly Buffer[],
  signers: readonly Signer[],
): Buffer[] => signTogether(domain, headers, signers).map(canonicalBytes);

/** Over the header as it stands: what was signed before stays signed. */
export function appendSignature(domain: string, bytes: Uint8Array, signer: Signer): Buffer {
  const frame = decodeFrame(bytes);
  const signature = signAlone(domain, frame.header, signer);
  return encodeFrame({ ...frame, signatures: [...frame.signatures, signature] });
}

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

const tooLarge = (what: string): FairleadError =>
  new FairleadError("SNAPSHOT_TOO_LARGE", `nothing was signed: the ${what} is over its bound`);
const malformed = (why: string): FairleadError =>
  new FairleadError("SNAPSHOT_MALFORMED", `frame refused: ${why}`);
