/**
 * What is taken from a node's signing request: its public key, and nothing else (names in it are ignored).
 *
 * 1. The request is signed with the key it names, so that nobody is certified for another's key.
 * 2. P-256 or Ed25519; a small-order Ed25519 point is refused.
 */
import "reflect-metadata";
import { createPublicKey } from "node:crypto";
import { Pkcs10CertificateRequest } from "@peculiar/x509";
import { FairleadError } from "../../core/errors.ts";
import type { KeyId } from "../../core/ids.ts";
import { keyIdOf, loadPublicKey } from "../../trust/keys.ts";

export interface RequestedKey {
  readonly spki: Buffer;
  /** Names the key in the database: the same key is the same node that asks again. */
  readonly keyHash: KeyId;
}

export async function readSigningRequest(pem: string): Promise<RequestedKey> {
  const request = parse(pem);
  const spki = Buffer.from(request.publicKey.rawData);
  refuseOtherKinds(spki); // (2) before the signature: its algorithm follows from the key
  if (!(await isSelfSigned(request))) throw refused("its signature is not by the key it names"); // (1)
  return { spki, keyHash: keyIdOf(spki) };
}

function parse(pem: string): Pkcs10CertificateRequest {
  try {
    return new Pkcs10CertificateRequest(pem);
  } catch {
    throw refused("it is not a PKCS#10 request in PEM");
  }
}

function refuseOtherKinds(spki: Buffer): void {
  let key;
  try {
    key = createPublicKey({ key: spki, type: "spki", format: "der" });
  } catch {
    throw refused("its public key cannot be read");
  }
  if (key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1") return;
  if (key.asymmetricKeyType !== "ed25519") throw refused("its key is neither P-256 nor Ed25519");
  try {
    loadPublicKey({ key_id: keyIdOf(spki), algorithm: "Ed25519", public_key: spki.toString("base64") });
  } catch {
    throw refused("its key is a small-order point");
  }
}

async function isSelfSigned(request: Pkcs10CertificateRequest): Promise<boolean> {
  try {
    return await request.verify();
  } catch {
    return false; // an algorithm that does not fit the key
  }
}

const refused = (why: string): FairleadError =>
  new FairleadError("INVALID_INPUT", `the signing request is refused: ${why}`, { field: "csr" });
