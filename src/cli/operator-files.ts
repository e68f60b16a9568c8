/** Files that an operator names on the command line: read with a bound, through links, with errors that name the flag. */
import { realpath } from "node:fs/promises";
import { FairleadError } from "../core/errors.ts";
import type { KeyId } from "../core/ids.ts";
import type { KeyRecord } from "../core/snapshot/trust-bundle.ts";
import { errnoOf } from "../host/file-errors.ts";
import { readBounded } from "../host/files.ts";
import { signerFromPem, type RsaAlgorithm, type Signer } from "../trust/keys.ts";

const SECRET_BYTES_MAX = 4096;
const KEY_BYTES_MAX = 16 * 1024;

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  EACCES: "permission denied",
  EISDIR: "it is a folder",
  ENOTDIR: "a part of its path is no folder",
};

export async function readNamedFile(flag: string, path: string, bytesMax: number): Promise<Buffer> {
  try {
    return await readBounded(await realpath(path), bytesMax);
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    const why = WORDS[errno] ?? (error instanceof FairleadError ? error.message : errno);
    const code = errno === "ENOENT" || errno === "ENOTDIR" ? "FILE_NOT_FOUND" : "INVALID_INPUT";
    throw new FairleadError(code, `${flag} ${path}: ${why}`, { field: flag }, error);
  }
}

/** One line, without the newline that editors add. */
export async function readSecretFile(flag: string, path: string): Promise<string> {
  return secretOf(flag, (await readNamedFile(flag, path, SECRET_BYTES_MAX)).toString("utf8"));
}

export async function readSecretStream(
  flag: string,
  stream: AsyncIterable<Buffer | string>,
): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    text += chunk.toString();
    if (text.length > SECRET_BYTES_MAX)
      throw new FairleadError("INVALID_INPUT", `${flag}: too long for a key`);
  }
  return secretOf(flag, text);
}

export function secretOf(flag: string, text: string): string {
  const secret = text.trim();
  if (secret.length < 10 || secret.length > 200 || /\s/.test(secret))
    throw new FairleadError("INVALID_INPUT", `${flag}: not a single secret of 10 to 200 characters`, {
      field: flag,
    });
  return secret;
}

/** A private key whose record is not at hand: an RSA key then signs as RSA-PSS. */
export const readOwnSigner = (flag: string, path: string): Promise<Signer> =>
  readSigner(flag, path, () => "RSA-PSS");

/** `rsaAlgorithm`: how an RSA key signs, from its record; null for a key that no record names. */
export async function readSigner(
  flag: string,
  path: string,
  rsaAlgorithm: (keyId: KeyId) => RsaAlgorithm | null,
): Promise<Signer> {
  const pem = (await readNamedFile(flag, path, KEY_BYTES_MAX)).toString("utf8");
  try {
    return signerFromPem(pem, rsaAlgorithm);
  } catch (error) {
    throw new FairleadError(
      "INVALID_INPUT",
      `${flag} ${path}: not an Ed25519 key in PKCS#8 PEM, nor an RSA key that the trust bundle names`,
      { field: flag },
      error,
    );
  }
}

/** Among records that name it. */
export const rsaAlgorithmIn =
  (records: readonly Pick<KeyRecord, "key_id" | "algorithm">[]) =>
  (keyId: KeyId): RsaAlgorithm | null => {
    const algorithm = records.find((record) => record.key_id === keyId)?.algorithm;
    return algorithm === undefined || algorithm === "Ed25519" ? null : algorithm;
  };
