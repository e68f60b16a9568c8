/**
 * The key with which our Restate signs its calls to our handlers: a handler's address is open to every local process,
 * and answers nobody who cannot sign.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync } from "node:crypto";
import { writeDurable } from "../../host/durable-write.ts";
import { readBoundedIfThere } from "../../host/files.ts";

const PEM_BYTES_MAX = 4_096;
const RAW_KEY_BYTES = 32;
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Makes the key file if there is none, and answers with the public identity for the SDK's endpoint. */
export async function ensureRequestIdentity(pemFile: string): Promise<string> {
  const existing = await readBoundedIfThere(pemFile, PEM_BYTES_MAX);
  if (existing !== undefined) return publicIdentity(existing.toString("utf8"));
  const pem = generateKeyPairSync("ed25519").privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  await writeDurable(pemFile, pem);
  return publicIdentity(pem);
}

export function publicIdentity(privatePem: string): string {
  const spki = createPublicKey(createPrivateKey(privatePem)).export({ type: "spki", format: "der" });
  return `publickeyv1_${base58(spki.subarray(-RAW_KEY_BYTES))}`;
}

/** Bitcoin's alphabet; each leading zero byte is a leading `1`. */
export function base58(bytes: Uint8Array): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString("hex") || "0"}`);
  let digits = "";
  for (; rest > 0n; rest /= 58n) digits = BASE58.charAt(Number(rest % 58n)) + digits;
  const zeros = bytes.findIndex((byte) => byte !== 0);
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + digits;
}
