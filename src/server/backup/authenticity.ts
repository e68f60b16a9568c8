/**
 * Who wrote a backup (ADR 22). Sums find a damaged file; an attacker who changes a table computes them anew. So the
 * root of the site's CA signs the manifest, which holds the sum of everything else in the file.
 *
 * 1. The signature covers the manifest's exact bytes under a tag. Nothing else that this key signs begins so: the
 *    signed part of a certificate is DER.
 * 2. The certificate in the file proves nothing by itself. It counts when its pin is one that came another way: from
 *    the keys folder, from the key files that the passphrase opens, or from the operator.
 */
import { createPrivateKey, sign, verify, X509Certificate } from "node:crypto";
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { caPinOf } from "../../trust/pins.ts";
import type { SiteRoot } from "../identity/site-ca.ts";
import { damaged } from "./archive.ts";

const TAG = Buffer.from("fairlead site backup v2\n"); // (1)
const SIGNATURE_CHARS_MAX = 200;
const CERTIFICATE_CHARS_MAX = 8_192;

const Signature = z.strictObject({
  algorithm: z.literal("ECDSA-P256-SHA256"),
  /** The root of the site's CA, in PEM. */
  certificate: z.string().max(CERTIFICATE_CHARS_MAX),
  signature: z.base64().max(SIGNATURE_CHARS_MAX),
});
type Signature = z.infer<typeof Signature>;

const covered = (manifest: Uint8Array): Buffer => Buffer.concat([TAG, manifest]);

export function signManifest(root: SiteRoot, manifest: Uint8Array): Buffer {
  const key = { key: createPrivateKey(root.privateKeyPem), dsaEncoding: "ieee-p1363" } as const;
  const signed: Signature = {
    algorithm: "ECDSA-P256-SHA256",
    certificate: root.certificatePem,
    signature: sign("sha256", covered(manifest), key).toString("base64"),
  };
  return Buffer.from(JSON.stringify(signed));
}

/** The pin of the CA that signed these very bytes; whose CA that is remains to be compared. */
export function signerOf(path: string, manifest: Uint8Array, bytes: Uint8Array): string {
  try {
    const { certificate, signature } = Signature.parse(JSON.parse(Buffer.from(bytes).toString("utf8")));
    const { publicKey, raw } = new X509Certificate(certificate);
    if (publicKey.asymmetricKeyDetails?.namedCurve !== "prime256v1") throw new Error("another kind of key");
    const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
    if (!verify("sha256", covered(manifest), key, Buffer.from(signature, "base64")))
      throw new Error("not a signature of this manifest");
    return caPinOf(raw);
  } catch {
    throw damaged(
      path,
      new Error("its signature does not fit its manifest: it was changed after it was written"),
    );
  }
}

export interface Anchor {
  /** Where the pin came from, for the operator. */
  readonly source: string;
  readonly pin: string;
}

/** Invariant 2: every pin that is known here agrees, and there is one. */
export function refuseUntrusted(path: string, signer: string, anchors: readonly Anchor[]): void {
  const other = anchors.find(({ pin }) => pin !== signer);
  if (other !== undefined) {
    throw new FairleadError(
      "SITE_BACKUP_UNTRUSTED",
      `${path} is signed by the CA ${signer}, and ${other.source} is of the site with the CA ${other.pin}`,
      { signer, expected: other.pin },
    );
  }
  if (anchors.length > 0) return;
  throw new FairleadError(
    "SITE_BACKUP_UNTRUSTED",
    `${path} is signed by the CA ${signer}, and nothing here says that this is the site's`,
    { signer },
  );
}
