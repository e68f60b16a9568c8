/**
 * The signatures of a frame, each over a domain tag and the header.
 *
 * 1. Headers that are signed together share one signature: it covers the root of a Merkle tree over what each alone would
 *    have had signed, and each carries its own way up to that root (ADR 16). The root has a domain of its own, so it is
 *    taken for no header, and a header for no root.
 * 2. There is one proof for a place: no bit of `sides` without a sibling, and base64 in its one form.
 */
import { verify, type KeyObject } from "node:crypto";
import { z } from "zod";
import { KeyId } from "../core/ids.ts";
import { LIMITS } from "../core/limits.ts";
import type { SignatureAlgorithm } from "../core/snapshot/envelope.ts";
import { RSA_PADDING, type Signer } from "./keys.ts";
import { leafHash, rootAbove, treeOf, type Sibling } from "./merkle.ts";

const BATCH_DOMAIN = "fairlead/batch/v1";
/** Signing is then a sixteenth of what it was; twice as many would halve that again and cost every frame 43 bytes. */
const SIGNED_TOGETHER_MAX = 16;
const SIBLINGS_MAX = 8;
const HASH_BYTES = 32;

/** `Buffer` skips what is no base64 and ignores the spare bits of the last character. */
const ExactBase64 = z
  .string()
  .max(1024)
  .refine((text) => Buffer.from(text, "base64").toString("base64") === text, "not exact base64");

const siblingCount = (siblings: string): number => Buffer.byteLength(siblings, "base64") / HASH_BYTES;

const BatchProof = z
  .strictObject({
    /** Hashes from the leaf up, end to end. */
    siblings: ExactBase64,
    /** A bit for each of them, the lowest for the first: set where it stands to the left. */
    sides: z
      .int()
      .min(0)
      .max(2 ** SIBLINGS_MAX - 1),
  })
  .refine(({ siblings, sides }) => {
    const count = siblingCount(siblings);
    return Number.isInteger(count) && count >= 1 && count <= SIBLINGS_MAX && sides < 2 ** count; // (2)
  }, "not a proof");
type BatchProof = z.infer<typeof BatchProof>;

const FrameSignature = z.strictObject({
  key_id: KeyId,
  proof: BatchProof.optional(),
  signature: ExactBase64,
});
export type FrameSignature = z.infer<typeof FrameSignature>;

export const FrameSignatures = z.array(FrameSignature).min(1).max(LIMITS.snapshotSignaturesMax);
export type FrameSignatures = z.infer<typeof FrameSignatures>;

/** One list of signatures for each header, in their order. */
export function signTogether(
  domain: string,
  headers: readonly Uint8Array[],
  signers: readonly Signer[],
): FrameSignatures[] {
  const signed: FrameSignatures[] = [];
  for (let at = 0; at < headers.length; at += SIGNED_TOGETHER_MAX)
    signed.push(...signGroup(domain, headers.slice(at, at + SIGNED_TOGETHER_MAX), signers));
  return signed;
}

function signGroup(domain: string, headers: readonly Uint8Array[], signers: readonly Signer[]) {
  const [only, ...others] = headers;
  if (others.length === 0) return [signers.map((signer) => signatureBy(signer, signedBytes(domain, only!)))];
  const tree = treeOf(headers.map((header) => leafHash(signedBytes(domain, header))));
  const roots = signers.map((signer) => signatureBy(signer, signedBytes(BATCH_DOMAIN, tree.root))); // (1)
  return headers.map((_, index) => {
    const proof = proofOf(tree.wayFrom(index));
    return roots.map(({ key_id, signature }) => ({ key_id, proof, signature }));
  });
}

export const signAlone = (domain: string, header: Uint8Array, signer: Signer): FrameSignature =>
  signatureBy(signer, signedBytes(domain, header));

const signatureBy = (signer: Signer, signed: Uint8Array): FrameSignature => ({
  key_id: signer.record.key_id,
  signature: signer.sign(signed).toString("base64"),
});

export function verifySignature(
  domain: string,
  header: Uint8Array,
  { signature, proof }: Pick<FrameSignature, "signature" | "proof">,
  algorithm: SignatureAlgorithm,
  key: KeyObject,
): boolean {
  const bytes = Buffer.from(signature, "base64");
  const own = signedBytes(domain, header);
  const signed =
    proof === undefined ? own : signedBytes(BATCH_DOMAIN, rootAbove(leafHash(own), wayOf(proof)));
  if (algorithm === "Ed25519") return verify(null, signed, key, bytes);
  return verify("sha256", signed, { key, ...RSA_PADDING[algorithm] }, bytes);
}

const signedBytes = (domain: string, header: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(domain), Buffer.of(0), header]);

const proofOf = (way: readonly Sibling[]): BatchProof => ({
  siblings: Buffer.concat(way.map(({ hash }) => hash)).toString("base64"),
  sides: way.reduce((bits, { side }, at) => (side === "left" ? bits | (1 << at) : bits), 0),
});

function wayOf({ siblings, sides }: BatchProof): Sibling[] {
  const hashes = Buffer.from(siblings, "base64");
  return Array.from({ length: hashes.length / HASH_BYTES }, (_, at) => ({
    side: (sides >> at) & 1 ? "left" : "right",
    hash: hashes.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES),
  }));
}
