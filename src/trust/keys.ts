/**
 * Key pairs and their names.
 *
 * 1. A key's id is the hash of its public bytes, which have one form only: OpenSSL also reads other spellings and
 *    bytes after the end, and one key would count under two ids.
 * 2. Keys that prove nothing are refused when they are loaded: small-order Ed25519 points, which verify anything,
 *    and RSA that can be factored or inverted.
 * 3. A private key lives behind `Signer`: a file today, a hardware token tomorrow.
 */
import {
  constants,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  type KeyObject,
} from "node:crypto";
import { FairleadError } from "../core/errors.ts";
import { KeyId } from "../core/ids.ts";
import type { SignatureAlgorithm } from "../core/snapshot/envelope.ts";
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

export type RsaAlgorithm = Exclude<SignatureAlgorithm, "Ed25519">;

/**
 * An RSA key does not say how it signs: its record in the trust bundle does. Without `rsaAlgorithm` only Ed25519 keys are
 * read.
 */
export function signerFromPem(pem: string, rsaAlgorithm?: (keyId: KeyId) => RsaAlgorithm | null): Signer {
  try {
    return signerOf(createPrivateKey(pem), rsaAlgorithm);
  } catch (cause) {
    if (cause instanceof FairleadError) throw cause;
    throw new FairleadError(
      "INVALID_INPUT",
      "the private key file cannot be read as PKCS#8 PEM",
      undefined,
      cause,
    );
  }
}

function signerOf(privateKey: KeyObject, rsaAlgorithm?: (keyId: KeyId) => RsaAlgorithm | null): Signer {
  const spki = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const key_id = keyIdOf(spki);
  const public_key = spki.toString("base64");
  if (privateKey.asymmetricKeyType === "ed25519")
    return {
      record: { key_id, algorithm: "Ed25519", public_key },
      sign: (bytes) => sign(null, bytes, privateKey),
    };
  const algorithm = privateKey.asymmetricKeyType === "rsa" ? (rsaAlgorithm?.(key_id) ?? null) : null;
  if (algorithm === null) throw new FairleadError("INVALID_INPUT", "not an Ed25519 key");
  const record: KeyRecord = { key_id, algorithm, public_key };
  loadPublicKey(record); // (2)
  return { record, sign: (bytes) => sign("sha256", bytes, { key: privateKey, ...RSA_PADDING[algorithm] }) };
}

/** RFC 8017, with SHA-256 throughout; the salt of RSA-PSS is as long as the hash. */
export const RSA_PADDING = {
  RS256: { padding: constants.RSA_PKCS1_PADDING },
  "RSA-PSS": { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
} as const satisfies Record<RsaAlgorithm, object>;

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
const RSA_BITS_MAX = 4096;
const KEY_TYPES = { Ed25519: "ed25519", RS256: "rsa", "RSA-PSS": "rsa" } as const;

const refused = (record: KeyRecord, why: string, cause?: unknown): FairleadError =>
  new FairleadError("BUNDLE_REFUSED", `key ${record.key_id.slice(0, 12)} refused: ${why}`, undefined, cause);

/** y coordinates of the points of order 1, 2, 4 and 8; little-endian. Their other spellings are not reduced. */
const SMALL_ORDER_Y = new Set([
  "00".repeat(32),
  `01${"00".repeat(31)}`,
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  `ec${"ff".repeat(30)}7f`,
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
  const bits = details?.modulusLength ?? 0;
  if (bits < RSA_BITS_MIN) return `RSA below ${RSA_BITS_MIN} bits`;
  if (bits > RSA_BITS_MAX) return `RSA above ${RSA_BITS_MAX} bits: its signatures do not fit a frame`;
  return (details?.publicExponent ?? 0n) < 65_537n ? "RSA exponent below 65537" : null;
}
