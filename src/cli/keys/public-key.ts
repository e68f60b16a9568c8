/** A public key in a file, as `fairlead keys generate` and other tools write it: SPKI in PEM. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { KeyRecord } from "../../core/snapshot/trust-bundle.ts";
import { keyIdOf, loadPublicKey, type RsaAlgorithm } from "../../trust/keys.ts";
import { readNamedFile } from "../operator-files.ts";

const PUBLIC_KEY_BYTES_MAX = 16 * 1024;

export async function readPublicKey(
  flag: string,
  path: string,
  rsaAlgorithm: RsaAlgorithm = "RSA-PSS",
): Promise<KeyRecord> {
  const pem = (await readNamedFile(flag, path, PUBLIC_KEY_BYTES_MAX)).toString("utf8");
  const refused = (why: string, cause?: unknown) =>
    new FairleadError("INVALID_INPUT", `${flag} ${path}: ${why}`, { field: flag }, cause);
  // A private key would be read as its public half; naming it here is a mistake that should be heard of.
  if (pem.includes("PRIVATE KEY")) throw refused("this is a private key: give its public half");
  const key = publicKeyOf(pem, refused);
  const spki = key.export({ type: "spki", format: "der" });
  const record: KeyRecord = {
    key_id: keyIdOf(spki),
    algorithm: key.asymmetricKeyType === "rsa" ? rsaAlgorithm : "Ed25519",
    public_key: spki.toString("base64"),
  };
  try {
    loadPublicKey(record);
  } catch (error) {
    const why = error instanceof FairleadError ? `: ${error.message}` : "";
    throw refused(`not an Ed25519 or RSA key that can be believed${why}`, error);
  }
  return record;
}

function publicKeyOf(pem: string, refused: (why: string, cause?: unknown) => FairleadError): KeyObject {
  try {
    return createPublicKey(pem);
  } catch (error) {
    throw refused("not a public key in PEM", error);
  }
}

/** The other half of what `readPublicKey` takes. */
export const publicPem = ({ public_key }: KeyRecord): string =>
  `-----BEGIN PUBLIC KEY-----\n${public_key}\n-----END PUBLIC KEY-----\n`;
