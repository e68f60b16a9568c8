import { createHash, timingSafeEqual } from "node:crypto";
import { Digest } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { canonicalBytes } from "./canonical-json.ts";

export const sha256Hex = (bytes: Uint8Array | string): string =>
  createHash("sha256").update(bytes).digest("hex");

export const digestOf = (bytes: Uint8Array | string): Digest => Digest.parse(`sha256:${sha256Hex(bytes)}`);

export const digestOfJson = (value: Json): Digest => digestOf(canonicalBytes(value));

/** For secrets: the time taken says nothing about where they differ. */
export function equalSecret(left: string, right: string): boolean {
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(hash(left), hash(right));
}
