/**
 * Key pairs and their names.
 *
 * 1. A key's id is the hash of its public bytes, which have one form only: OpenSSL also reads other spellings and
 *    bytes after the end, and one key would count under two ids.
 * 2. Keys that prove nothing are refused when they are loaded: small-order Ed25519 points, which verify anything,
 *    and RSA that can be factored or inverted.
 * 3. A private key lives behind `Signer`: a file today, a hardware token tomorrow.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign, type KeyObject } from "node:crypto";
import { FairleadError } from "../core/errors.ts";
import { KeyId } from "../core/ids.ts";
import type { KeyRecord } from "../core/snapshot/trust-bundle.ts";
import { sha256Hex } from "./digest.ts";

export interface Signer {
  readonly record: KeyRecord;
  sign(bytes: Uint8Array): Buffer;
}

export function generateSigner(): { signer: Signer; pem: string } {
  const { privateKey } = generateKeyPairSync("ed25519");
  return {
    signer: signerOf(privateKey),
    pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

export function signerFromPem(pem: string): Signer {
  try {
    return signerOf(createPrivateKey(pem));
  } catch (cause) {
    throw new FairleadError(
      "INVALID_INPUT",
      "the private key file cannot be read as PKCS#8 PEM",
      undefined,
      cause,
    );
  }
}

function signerOf(privateKey: KeyObject): Signer {
  if (privateKey.asymmetricKeyType !== "ed25519")
    throw new FairleadError("INVALID_INPUT", "not an Ed25519 key");
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  return {
    record: { key_id: keyIdOf(spki), algorithm: "Ed25519", public_key: spki.toString("base64") },
    sign: (bytes) => sign(null, bytes, privateKey),
  };
}

export const keyIdOf = (spki: Uint8Array): KeyId => KeyId.parse(sha256Hex(spki));

export function loadPublicKey(record: KeyRecord): KeyObject {
  const spki = Buffer.from(record.public_key, "base64");
  if (keyIdOf(spki) !== record.key_id) throw refused(record, "its id is not the hash of its bytes");
  let key: KeyObject;
  try {
    key = createPublicKey({ key: spki, type: "spki", format: "der" });
  } catch (cause) {
    throw refused(record, "its bytes are not a public key", cause);
  }
  if (key.asymmetricKeyType !== KEY_TYPES[record.algorithm])
    throw refused(record, "its type is not its algorithm's");
  const again = key.export({ type: "spki", format: "der" });
  if (!again.equals(spki)) throw refused(record, "its bytes are not in their one form"); // (1)
  const weakness = record.algorithm === "Ed25519" ? weakPoint(spki.subarray(-32)) : weakRsa(key); // (2)
  if (weakness !== null) throw refused(record, weakness);
  return key;
}

const RSA_BITS_MIN = 2048;
const KEY_TYPES = { Ed25519: "ed25519", RS256: "rsa", "RSA-PSS": "rsa" } as const;

const refused = (record: KeyRecord, why: string, cause?: unknown): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `key ${record.key_id.slice(0, 12)} refused: ${why}`, undefined, cause);

/** y coordinates of the points of order 1, 2, 4 and 8, with their non-canonical spellings; little-endian. */
const SMALL_ORDER_Y = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  `ec${"ff".repeat(30)}7f`,
  `ed${"ff".repeat(30)}7f`,
  `ee${"ff".repeat(30)}7f`,
]);

/** 2^255 - 19 and above: the same points again under other bytes. */
const NOT_REDUCED = /^(e[d-f]|f[0-9a-f])(ff){30}7f$/;

function weakPoint(point: Uint8Array): string | null {
  const y = Buffer.from(point);
  y[31] = y[31]! & 0x7f;
  const hex = y.toString("hex");
  if (SMALL_ORDER_Y.has(hex)) return "small-order point";
  return NOT_REDUCED.test(hex) ? "its point is not in its one form" : null;
}

function weakRsa({ asymmetricKeyDetails: details }: KeyObject): string | null {
  if ((details?.modulusLength ?? 0) < RSA_BITS_MIN) return `RSA below ${RSA_BITS_MIN} bits`;
  return (details?.publicExponent ?? 0n) < 65_537n ? "RSA exponent below 65537" : null;
}
