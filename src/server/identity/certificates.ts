/**
 * Making X.509 certificates.
 *
 * 1. A name in a certificate is put there by the issuer; nothing is copied from a request but the public key.
 * 2. Serial numbers are random and positive, and spelled one way: lower-case hex without a leading zero byte.
 */
import "reflect-metadata";
import {
  createPrivateKey,
  generateKeyPairSync,
  randomBytes,
  type KeyObject,
  type webcrypto,
} from "node:crypto";
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PublicKey,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from "@peculiar/x509";
import { keyIdentifierOf, type NodeLeafIssuer } from "./node-certificate-der.ts";

const P256 = { name: "ECDSA", namedCurve: "P-256" } as const;
const SIGNING = { name: "ECDSA", hash: "SHA-256" } as const;
/** Clocks differ a little: what is valid from this instant would be refused by a node a second behind. */
export const BACKDATE_MS = 5 * 60_000;

export interface Issuer {
  readonly certificatePem: string;
  readonly certificate: X509Certificate;
  readonly key: webcrypto.CryptoKey;
  readonly leaf: NodeLeafIssuer;
}

export type SubjectName = { readonly type: "dns" | "ip" | "url"; readonly value: string };

export interface LeafRequest {
  readonly commonName: string;
  readonly names: readonly SubjectName[];
  readonly usage: "client" | "server";
  readonly spki: Uint8Array;
  readonly now: number;
  readonly lifetimeMs: number;
  /** Where it is valid for longer than from now. */
  readonly notBefore?: Date;
}

export interface KeyPairPem {
  readonly key: string;
  readonly certificate: string;
}

export const newSerial = (): string => {
  const bytes = randomBytes(16);
  bytes[0] = (bytes[0]! & 0x3f) | 0x40; // (2) positive, and no byte that an encoder would drop or add
  return bytes.toString("hex");
};

export function newP256Key(): { readonly pem: string; readonly spki: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    pem: privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
    spki: publicKey.export({ type: "spki", format: "der" }),
  };
}

export function issuerOf({ key: pem, certificate: certificatePem }: KeyPairPem): Issuer {
  const certificate = new X509Certificate(certificatePem);
  const key = createPrivateKey(pem);
  return {
    certificatePem,
    certificate,
    key: signingKey(key),
    leaf: {
      name: new Uint8Array(certificate.subjectName.toArrayBuffer()),
      keyIdentifier: keyIdentifierOf(new Uint8Array(certificate.publicKey.rawData)),
      key,
    },
  };
}

const signingKey = (key: KeyObject): webcrypto.CryptoKey => key.toCryptoKey(P256, false, ["sign"]);

export interface AuthorityRequest {
  readonly commonName: string;
  /** Null: signs itself. */
  readonly issuer: Issuer | null;
  readonly usages: readonly ("client" | "server")[];
  readonly now: number;
  readonly lifetimeMs: number;
}

export async function makeAuthority(request: AuthorityRequest): Promise<KeyPairPem> {
  const { pem, spki } = newP256Key();
  const own = new PublicKey(spki);
  const certificate = await X509CertificateGenerator.create({
    ...frame(request.commonName, request.now, request.lifetimeMs),
    issuer: request.issuer?.certificate.subject ?? `CN=${request.commonName}`,
    publicKey: own,
    signingKey: request.issuer?.key ?? signingKey(createPrivateKey(pem)),
    extensions: [
      new BasicConstraintsExtension(true, request.issuer === null ? 1 : 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      // An authority for servers cannot make a certificate that passes as a node's, whatever is written into it.
      ...(request.usages.length === 0 ? [] : [extendedUsage(request.usages)]),
      await SubjectKeyIdentifierExtension.create(own),
      ...(await issuedBy(request.issuer)),
    ],
  });
  return { key: pem, certificate: certificate.toString("pem") };
}

/**
 * The same name and key as an intermediate's, signed by itself: a trust anchor for that intermediate alone.
 * TLS servers of Node trust whole roots only, and a root would let in what its other intermediates issue.
 */
export async function anchorOf(issuer: Issuer): Promise<string> {
  const { subject, publicKey, notBefore, notAfter } = issuer.certificate;
  const anchor = await X509CertificateGenerator.create({
    serialNumber: newSerial(),
    subject,
    issuer: subject,
    notBefore,
    notAfter,
    signingAlgorithm: SIGNING,
    publicKey,
    signingKey: issuer.key,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign, true),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return anchor.toString("pem");
}

export async function issueLeaf(issuer: Issuer, request: LeafRequest): Promise<X509Certificate> {
  const own = new PublicKey(Buffer.from(request.spki));
  return X509CertificateGenerator.create({
    ...frame(request.commonName, request.now, request.lifetimeMs),
    ...(request.notBefore === undefined ? {} : { notBefore: request.notBefore }),
    issuer: issuer.certificate.subject,
    publicKey: own,
    signingKey: issuer.key,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      extendedUsage([request.usage]),
      new SubjectAlternativeNameExtension(request.names.map(({ type, value }) => ({ type, value }))),
      await SubjectKeyIdentifierExtension.create(own),
      ...(await issuedBy(issuer)),
    ],
  });
}

const frame = (commonName: string, now: number, lifetimeMs: number) => ({
  serialNumber: newSerial(),
  subject: `CN=${commonName}`,
  notBefore: new Date(now - BACKDATE_MS),
  notAfter: new Date(now + lifetimeMs),
  signingAlgorithm: SIGNING,
});

const extendedUsage = (usages: readonly ("client" | "server")[]): Extension =>
  new ExtendedKeyUsageExtension(
    usages.map((usage) => (usage === "client" ? ExtendedKeyUsage.clientAuth : ExtendedKeyUsage.serverAuth)),
  );

const issuedBy = async (issuer: Issuer | null): Promise<Extension[]> =>
  issuer === null ? [] : [await AuthorityKeyIdentifierExtension.create(issuer.certificate.publicKey)];
