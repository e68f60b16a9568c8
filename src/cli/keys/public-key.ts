/** A public key in a file, as `fairlead keys generate` and other tools write it: SPKI in PEM. */
import { createPublicKey } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { KeyRecord } from "../../core/snapshot/trust-bundle.ts";
import { keyIdOf, loadPublicKey } from "../../trust/keys.ts";
import { readNamedFile } from "../operator-files.ts";

const PUBLIC_KEY_BYTES_MAX = 16 * 1024;

export async function readPublicKey(flag: string, path: string): Promise<KeyRecord> {
  const pem = (await readNamedFile(flag, path, PUBLIC_KEY_BYTES_MAX)).toString("utf8");
  const refused = (why: string, cause?: unknown) =>
    new FairleadError("INVALID_INPUT", `${flag} ${path}: ${why}`, { field: flag }, cause);
  // A private key would be read as its public half; naming it here is a mistake that should be heard of.
  if (pem.includes("PRIVATE KEY")) throw refused("this is a private key: give its public half");
  const spki = spkiOf(pem, refused);
  const record: KeyRecord = {
    key_id: keyIdOf(spki),
    algorithm: "Ed25519",
    public_key: spki.toString("base64"),
  };
  try {
    loadPublicKey(record);
  } catch (error) {
    throw refused("not an Ed25519 key that can be believed", error);
  }
  return record;
}

function spkiOf(pem: string, refused: (why: string, cause?: unknown) => FairleadError): Buffer {
  try {
    return createPublicKey(pem).export({ type: "spki", format: "der" });
  } catch (error) {
    throw refused("not a public key in PEM", error);
  }
}

/** The other half of what `readPublicKey` takes. */
export const publicPem = ({ public_key }: KeyRecord): string =>
  `-----BEGIN PUBLIC KEY-----\n${public_key}\n-----END PUBLIC KEY-----\n`;
