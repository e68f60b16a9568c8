/**
 * A key pair and a request for its certificate (PKCS#10, RFC 2986). Names in the request mean nothing: the server
 * decides who a node is, so the subject is empty and the request is one fixed shape around a public key.
 *
 * Written out here because the library for it is half of the agent's code and a tenth of its memory, for a request
 * that a node makes once a month (ADR 10); the server reads it with that library.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import type { KeyId } from "../../core/ids.ts";
import { keyIdOf } from "../../trust/keys.ts";

const INTEGER_0 = Buffer.from("020100", "hex");
const EMPTY_NAME = Buffer.from("3000", "hex");
const NO_ATTRIBUTES = Buffer.from("a000", "hex");
/** SEQUENCE { OID 1.2.840.10045.4.3.2 } */
const ECDSA_WITH_SHA256 = Buffer.from("300a06082a8648ce3d040302", "hex");
const SEQUENCE = 0x30;
const BIT_STRING = 0x03;

export function generateNodeKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

export function requestFor(privateKeyPem: string): string {
  const key = createPrivateKey(privateKeyPem);
  const publicKey = createPublicKey(key).export({ type: "spki", format: "der" });
  const info = der(SEQUENCE, INTEGER_0, EMPTY_NAME, publicKey, NO_ATTRIBUTES);
  const signature = sign("sha256", info, { key, dsaEncoding: "der" });
  const request = der(SEQUENCE, info, ECDSA_WITH_SHA256, der(BIT_STRING, Buffer.from([0]), signature));
  const lines = request.toString("base64").match(/.{1,64}/g)!;
  return ["-----BEGIN CERTIFICATE REQUEST-----", ...lines, "-----END CERTIFICATE REQUEST-----", ""].join(
    "\n",
  );
}

/** As the server names the key: operators compare the two before they approve a machine. */
export const keyIdOfPrivate = (privateKeyPem: string): KeyId =>
  keyIdOf(createPublicKey(createPrivateKey(privateKeyPem)).export({ type: "spki", format: "der" }));

function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const length = body.length < 0x80 ? [body.length] : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
