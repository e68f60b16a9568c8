/** How a raw secret looks: by its text, by its bytes, by the name it stands under (SNAP-5). */
import { SecretRef } from "../core/snapshot/typed-text.ts";

type Pattern = readonly [RegExp, string];

const KEYS: readonly Pattern[] = [
  [/-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----/, "a PEM private key"],
  [/PuTTY-User-Key-File-/, "an SSH private key"],
  [/AGE-SECRET-KEY-1/, "an age private key"],
  [/\b(?:PrivateKey|PresharedKey)\s*=/i, "a WireGuard private key"],
];

const CLOUD: readonly Pattern[] = [
  [/\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/, "a cloud access key"],
  [/\bAIza[0-9A-Za-z_-]{35}/, "a cloud API key"],
  [/"private_key(?:_id)?"\s*:/, "a cloud service account"],
  [/\b(?:AccountKey|SharedAccessKey)\s*=\s*[A-Za-z0-9+/]{16}/i, "a storage account key"],
  [/[?&]sig=[A-Za-z0-9%+/]{20}/, "a signed storage address"],
  [/\bgh[pousr]_[A-Za-z0-9]{30}/, "a GitHub token"],
  [/\bgithub_pat_[A-Za-z0-9_]{20}/, "a GitHub token"],
  [/\bglpat-[A-Za-z0-9_-]{20}/, "a GitLab token"],
  [/\bnpm_[A-Za-z0-9]{36}/, "an npm token"],
  [/\bxox[a-z]-[A-Za-z0-9-]{10}/, "a Slack token"],
  [/\b[rs]k_(?:live|test)_[A-Za-z0-9]{10}/, "a Stripe key"],
  [/\bhv[bs]\.[A-Za-z0-9_-]{20}/, "a Vault token"],
];

const WORDS = "pass(?:word|wd|phrase)|pwd|secret|psk|(?:api|access|account|auth|private|secret)[_-]?key";

/** At the beginning of a name or of a part of one, in one step: a whole config file may be searched. */
const APART = "(?<![a-z0-9])";

const LOGINS: readonly Pattern[] = [
  [/\beyJ[A-Za-z0-9_-]{15,500}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/, "a JSON web token"],
  [/\b[a-z][a-z0-9+.-]{0,30}:\/\/[^\s/?#@:]*:[^\s/?#@]+@/i, "a password in an address"],
  [/\b(?:bearer|basic)\s+[A-Za-z0-9+/_.-]{16}/i, "an authorization header"],
  [/\$(?:1|2[aby]|5|6|y)\$[./A-Za-z0-9$,=]{20}/, "a password's hash"],
  [new RegExp(`${APART}(?:${WORDS}|token)["']?\\s*=\\s*["']?[^\\s"'=]`, "i"), "a secret by its name"],
  [new RegExp(`${APART}(?:${WORDS})["']?:\\s+["']?\\S`, "i"), "a secret by its name"],
];

const PATTERNS = [...KEYS, ...CLOUD, ...LOGINS];

export const textLooksLike = (text: string): string | null =>
  PATTERNS.find(([pattern]) => pattern.test(text))?.[1] ?? null;

/** A DER sequence that opens with version 0, 1 or 3: PKCS#8, PKCS#1, SEC1 and PKCS#12. A public key has no version. */
const DER_PRIVATE_KEY = /^0(?:[\0-\x7f]|\x81.|\x82..)\x02\x01[\0\x01\x03]/s;
const OPENSSH_MAGIC = "openssh-key-v1\0";

/** Of bytes, as Latin-1 text. */
export function bytesLookLike(bytes: string): string | null {
  if (DER_PRIVATE_KEY.test(bytes)) return "a DER private key";
  return bytes.includes(OPENSSH_MAGIC) ? "an SSH private key" : null;
}

const NAMES =
  /(?:^|_)(?:password|passwd|passphrase|pwd|secret|psk|token|credential|(?:private|pre_?shared|api|access|account|auth|secret|signing)_key)s?$/;

/** Whatever stands under such a name is a secret, unless it only says where one is kept. */
export function nameSaysSecret(name: string, value: unknown): boolean {
  if (!NAMES.test(snakeCase(name))) return false;
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return !values.every((item) => SecretRef.safeParse(item).success);
}

const snakeCase = (name: string): string =>
  name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|[-.\s]/g, "_").toLowerCase();
