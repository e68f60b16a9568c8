import { createHmac } from "node:crypto";

/** Batch and canary order: HMAC under the intent's seed, so that nobody can choose who goes first. */
export function orderBySeed<T extends { readonly id: string }>(nodes: readonly T[], seedHex: string): T[] {
  const seed = Buffer.from(seedHex, "hex");
  return nodes
    .map((node) => ({ node, rank: createHmac("sha256", seed).update(node.id).digest("hex") }))
    .toSorted((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ node }) => node);
}
