/** Check 12: no raw secret travels in a snapshot. The structure allows no free text; this is the second wall. */
import type { Json } from "../core/json.ts";

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, "a PEM private key"],
  [/\beyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/, "a JSON web token"],
  [/\bAKIA[0-9A-Z]{16}\b/, "a cloud access key"],
  [/\bPrivateKey\s*=/, "a WireGuard private key"],
];
/** A DER sequence that opens with version 0 or 1: PKCS#8, PKCS#1 and SEC1 private keys. A public key has no version. */
const DER_PRIVATE_KEY = /^0(?:[\0-\x7f]|\x81.|\x82..)\x02\x01[\0\x01]/s;
const NAMES = /(^|_)(password|passwd|secret|private_key|api_key|token|credential)s?$/;
const BASE64 = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;
const WRAPPINGS_MAX = 3;

export interface FoundSecret {
  readonly path: string;
  readonly looksLike: string;
}

export function findSecret(value: Json, path = "content"): FoundSecret | null {
  if (typeof value === "string") {
    const looksLike = secretIn(value, WRAPPINGS_MAX);
    return looksLike === null ? null : { path, looksLike };
  }
  if (value === null || typeof value !== "object") return null;
  for (const [key, item] of Object.entries(value)) {
    if (NAMES.test(snakeCase(key))) return { path: `${path}.${key}`, looksLike: "a secret by its name" };
    const found = findSecret(item ?? null, `${path}.${key}`);
    if (found !== null) return found;
  }
  return null;
}

/** Base64 hides nothing, also not in layers. */
function secretIn(text: string, wrappings: number): string | null {
  const hit = PATTERNS.find(([pattern]) => pattern.test(text));
  if (hit !== undefined) return hit[1];
  const packed = text.replaceAll(/\s/g, "");
  if (wrappings === 0 || !BASE64.test(packed)) return null;
  const inner = Buffer.from(packed, "base64").toString("latin1");
  return DER_PRIVATE_KEY.test(inner) ? "a DER private key" : secretIn(inner, wrappings - 1);
}

const snakeCase = (name: string): string => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|-/g, "_").toLowerCase();
