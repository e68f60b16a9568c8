/**
 * SHA256SUMS of a folder of packages, and its signature in SHA256SUMS.sig.
 *
 * 1. `sha256sum -c` reads the list, and `openssl pkeyutl -verify -rawin` the signature: neither needs Fairlead.
 * 2. The first line says whether the list is signed, and by which key: a signature that was taken away is noticed.
 * 3. One form only: a line that this file would not write is refused.
 */
import { verify } from "node:crypto";
import { FairleadError } from "../core/errors.ts";
import { KeyId } from "../core/ids.ts";
import type { KeyRecord } from "../core/snapshot/trust-bundle.ts";
import { loadPublicKey, type Signer } from "./keys.ts";

export const SUMS_FILE = "SHA256SUMS";
export const SUMS_SIGNATURE_FILE = "SHA256SUMS.sig";

const HEADING = /^# Fairlead packages, (?:unsigned|signed by ([0-9a-f]{64}))$/;
const LINE = /^([0-9a-f]{64}) {2}([A-Za-z0-9][A-Za-z0-9._+-]*)$/;

export interface PackageSums {
  /** Null: the list says that it is unsigned. */
  readonly signedBy: KeyId | null;
  /** Name of a file → SHA-256 of its content, in hex. */
  readonly files: ReadonlyMap<string, string>;
}

export function sumsText({ signedBy, files }: PackageSums): string {
  const heading = `# Fairlead packages, ${signedBy === null ? "unsigned" : `signed by ${signedBy}`}`;
  const lines = [...files].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, sum]) => `${sum}  ${name}`);
  return `${[heading, ...lines].join("\n")}\n`;
}

export function parseSums(text: string): PackageSums {
  const [first = "", ...lines] = text.split("\n");
  const heading = HEADING.exec(first);
  if (heading === null) throw refused("its first line is not that of a list of packages");
  const files = new Map<string, string>();
  for (const [at, line] of lines.slice(0, -1).entries()) {
    const [, sum, name] = LINE.exec(line) ?? [];
    if (sum === undefined || name === undefined) throw refused(`line ${at + 2} is not a sum and a name`);
    if (files.has(name)) throw refused(`${name} is listed twice`);
    files.set(name, sum);
  }
  const sums = { signedBy: heading[1] === undefined ? null : KeyId.parse(heading[1]), files };
  if (sumsText(sums) !== text) throw refused("it is not in order, or does not end with a newline"); // (3)
  return sums;
}

export const signSums = (text: string, signer: Signer): string =>
  `${signer.sign(Buffer.from(text)).toString("base64")}\n`;

export function isSumsSignature(text: string, signature: string, key: KeyRecord): boolean {
  const bytes = Buffer.from(signature.trimEnd(), "base64");
  if (key.algorithm !== "Ed25519" || `${bytes.toString("base64")}\n` !== signature) return false;
  return verify(null, Buffer.from(text), loadPublicKey(key), bytes);
}

const refused = (why: string): FairleadError => new FairleadError("INVALID_INPUT", `${SUMS_FILE}: ${why}`);
