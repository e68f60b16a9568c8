/**
 * A node certificate's DER bytes (RFC 5280), written out: one fixed shape around a key, a URI and a validity.
 *
 * The library that reads certificates makes one in about 1 ms of CPU, for objects that are dropped at once: most of what
 * an enrollment costs. A test reads these bytes with the library and with OpenSSL.
 */
import { createHash, sign, type KeyObject } from "node:crypto";

const TAGS = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
  /** Of a key identifier within an authority's. */
  keyIdentifier: 0x80,
  /** Of a URI within general names. */
  uri: 0x86,
  version: 0xa0,
  extensions: 0xa3,
} as const;

const oid = (hex: string): Buffer => der("oid", Buffer.from(hex, "hex"));
const ECDSA_WITH_SHA256 = der("sequence", oid("2a8648ce3d040302"));
const COMMON_NAME = oid("550403");
const VERSION_3 = der("version", der("integer", Buffer.from([2])));
const CRITICAL = der("boolean", Buffer.from([0xff]));
const NO_CA = extension(oid("551d13"), der("sequence"), CRITICAL);
const DIGITAL_SIGNATURE = extension(oid("551d0f"), der("bitString", Buffer.from([7, 0x80])), CRITICAL);
const CLIENT_AUTH = extension(oid("551d25"), der("sequence", oid("2b06010505070302")));
const ALTERNATIVE_NAME = oid("551d11");
const KEY_IDENTIFIER = oid("551d0e");
const AUTHORITY_KEY_IDENTIFIER = oid("551d23");

export interface NodeLeaf {
  /** Positive, in hex. */
  readonly serial: string;
  readonly commonName: string;
  readonly uri: string;
  readonly spki: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

export interface NodeLeafIssuer {
  /** The issuer's name as its own certificate spells it. */
  readonly name: Uint8Array;
  readonly keyIdentifier: Uint8Array;
  /** P-256. */
  readonly key: KeyObject;
}

export function nodeCertificateDer(issuer: NodeLeafIssuer, leaf: NodeLeaf): Buffer {
  const { serial, commonName, uri, spki, notBefore, notAfter } = leaf;
  const content = der(
    "sequence",
    VERSION_3,
    der("integer", Buffer.from(serial, "hex")),
    ECDSA_WITH_SHA256,
    issuer.name,
    der("sequence", time(notBefore), time(notAfter)),
    der("sequence", der("set", der("sequence", COMMON_NAME, der("utf8String", Buffer.from(commonName))))),
    spki,
    der(
      "extensions",
      der(
        "sequence",
        NO_CA,
        DIGITAL_SIGNATURE,
        CLIENT_AUTH,
        extension(ALTERNATIVE_NAME, der("sequence", der("uri", Buffer.from(uri, "latin1")))),
        extension(KEY_IDENTIFIER, der("octetString", keyIdentifierOf(spki))),
        extension(AUTHORITY_KEY_IDENTIFIER, der("sequence", der("keyIdentifier", issuer.keyIdentifier))),
      ),
    ),
  );
  const signature = sign("sha256", content, { key: issuer.key, dsaEncoding: "der" });
  return der("sequence", content, ECDSA_WITH_SHA256, der("bitString", Buffer.from([0]), signature));
}

/** RFC 5280, 4.2.1.2, the first method: SHA-1 of the key's bits. It tells keys apart and secures nothing. */
export const keyIdentifierOf = (spki: Uint8Array): Buffer => createHash("sha1").update(bitsOf(spki)).digest();

/** A P-256 or Ed25519 key: a short algorithm, then the bits after their tag, length and count of unused ones. */
const bitsOf = (spki: Uint8Array): Uint8Array => spki.subarray(2 + 2 + spki[3]! + 3);

/** RFC 5280, 4.1.2.5: two digits for the year before 2050, four from then on. */
function time(at: Date): Buffer {
  const text = at.toISOString().replaceAll(/[-:T]|\.\d{3}/g, "");
  return at.getUTCFullYear() < 2050
    ? der("utcTime", Buffer.from(text.slice(2)))
    : der("generalizedTime", Buffer.from(text));
}

function extension(id: Buffer, value: Buffer, ...critical: Buffer[]): Buffer {
  return der("sequence", id, ...critical, der("octetString", value));
}

function der(tag: keyof typeof TAGS, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([TAGS[tag], ...lengthOf(body.length)]), body]);
}

function lengthOf(length: number): number[] {
  if (length < 0x80) return [length];
  return length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
}
