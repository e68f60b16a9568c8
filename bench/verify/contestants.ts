/**
 * Three ways from a frame's bytes to its content.
 *
 * 1. The limit does nothing but what cannot be left out: one signature by the machine's own library, one JSON.parse.
 * 2. The peer is what one would take from npm: @noble/ed25519, and the canonical form by `canonicalize`.
 * 3. Each must accept the frame, and each must refuse it with one bit flipped: else it measures nothing.
 */
import { createHash, verify } from "node:crypto";
import * as noble from "@noble/ed25519";
import canonicalize from "canonicalize";
import { decodeFrame } from "../../src/trust/frame.ts";
import { loadPublicKey } from "../../src/trust/keys.ts";
import { SNAPSHOT_DOMAIN } from "../../src/trust/snapshot-signer.ts";
import { verifySnapshot } from "../../src/trust/verify-snapshot.ts";
import { contextOf, newKeys, snapshotFrame } from "../../test/support/trust.ts";
import type { Content } from "./contents.ts";

export type Contestant = () => boolean;
export interface Contestants {
  readonly bytes: number;
  readonly ours: Contestant;
  readonly limit: Contestant;
  readonly peer: Contestant;
}

noble.hashes.sha512 = (message) => createHash("sha512").update(message).digest();

export function contestantsFor({ scope, role, organizations, value }: Content): Contestants {
  const keys = newKeys();
  const header = { scope_type: scope, roles: [role], organization_ids: [...organizations] };
  const frame = snapshotFrame({ header, content: value, signers: [keys.online] });
  const flipped = Buffer.from(frame);
  flipped[100]! ^= 1;
  const context = contextOf(keys, { roles: [role], organizationIds: organizations });
  const publicKey = loadPublicKey(keys.online.record);
  const point = Buffer.from(keys.online.record.public_key, "base64").subarray(-32);
  const hash = createHash("sha256").update(decodeFrame(frame).content).digest("hex");

  const ours = (bytes: Buffer) => verifySnapshot(bytes, context).kind === "accepted";
  const limit = (bytes: Buffer) => {
    const { signed, signature, content } = partsOf(bytes);
    return verify(null, signed, publicKey, signature) && JSON.parse(content.toString("utf8")) !== null;
  };
  const peer = (bytes: Buffer) => {
    const { signed, signature, content } = partsOf(bytes);
    if (!noble.verify(signature, signed, point)) return false;
    const canonical = canonicalize(JSON.parse(content.toString("utf8")) as unknown)!;
    return createHash("sha256").update(canonical).digest("hex") === hash;
  };
  for (const [name, accepts] of Object.entries({ ours, limit, peer })) {
    if (!accepts(frame) || accepts(flipped)) throw new Error(`${name} does not tell good from bad`); // (3)
  }
  return { bytes: frame.length, ours: () => ours(frame), limit: () => limit(frame), peer: () => peer(frame) };
}

/** By the lengths alone: what it costs to take a frame apart safely is ours to pay, not the limit's. */
function partsOf(frame: Buffer): { signed: Buffer; content: Buffer; signature: Buffer } {
  const headerEnd = 8 + frame.readUInt32BE(4);
  const contentEnd = headerEnd + 4 + frame.readUInt32BE(headerEnd);
  const signatures = frame.toString("latin1", contentEnd + 4);
  const signature = signatures.slice(
    signatures.indexOf('"signature":"') + '"signature":"'.length,
    -'"}]'.length,
  );
  return {
    signed: Buffer.concat([Buffer.from(`${SNAPSHOT_DOMAIN}\0`), frame.subarray(8, headerEnd)]),
    content: frame.subarray(headerEnd + 4, contentEnd),
    signature: Buffer.from(signature, "base64"),
  };
}
