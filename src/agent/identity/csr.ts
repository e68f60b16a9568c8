/** A key pair and a request for its certificate. Names in the request mean nothing: the server decides who a node is. */
import { generateKeyPairSync, webcrypto, createPrivateKey } from "node:crypto";

const P256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };

export function generateNodeKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

/** Loaded only when a certificate is asked for: an idle agent does not carry the ASN.1 tables in memory. */
export async function requestFor(privateKeyPem: string): Promise<string> {
  await import("reflect-metadata");
  const x509 = await import("@peculiar/x509");
  const pkcs8 = createPrivateKey(privateKeyPem).export({ type: "pkcs8", format: "der" });
  const privateKey = await webcrypto.subtle.importKey("pkcs8", pkcs8, P256, true, ["sign"]);
  const { kty, crv, x, y } = await webcrypto.subtle.exportKey("jwk", privateKey);
  const jwk = { kty, crv, x, y } as webcrypto.JsonWebKey;
  const publicKey = await webcrypto.subtle.importKey("jwk", jwk, P256, true, ["verify"]);
  const request = await x509.Pkcs10CertificateRequestGenerator.create({
    // Two typings of one platform's keys: Node's own, and the DOM's that the library names.
    keys: { privateKey, publicKey } as never,
    signingAlgorithm: P256,
    name: "CN=node",
  });
  return request.toString("pem");
}
