import { hash, timingSafeEqual } from "node:crypto";
import type { Digest } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { canonicalBytes } from "./canonical-json.ts";

export const sha256Hex = (bytes: Uint8Array | string): string => hash("sha256", bytes, "hex");

export const digestOf = (bytes: Uint8Array | string): Digest => `sha256:${sha256Hex(bytes)}` as Digest;

export const digestOfJson = (value: Json): Digest => digestOf(canonicalBytes(value));

/** For secrets: the time taken says nothing about where they differ. */
export function equalSecret(left: string, right: string): boolean {
  const hashOf = (text: string) => hash("sha256", text, "buffer");
  return timingSafeEqual(hashOf(left), hashOf(right));
}
