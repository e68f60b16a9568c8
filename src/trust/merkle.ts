/**
 * A Merkle tree over the nodes of an intent, in the shape of RFC 6962: leaves and inner nodes are hashed
 * under different prefixes, so neither can be taken for the other; an odd one is carried up unpaired.
 */
import { createHash } from "node:crypto";
import type { IntentLeaf, MerkleProof } from "../core/protocol/intent.ts";
import { canonicalBytes } from "./canonical-json.ts";

const hash = (prefix: number, ...parts: readonly Uint8Array[]): Buffer => {
  const hasher = createHash("sha256").update(Buffer.from([prefix]));
  for (const part of parts) hasher.update(part);
  return hasher.digest();
};

const leafHash = (leaf: IntentLeaf): Buffer => hash(0, canonicalBytes(leaf));

export interface NodesTree {
  readonly root: string;
  proof(nodeId: string): MerkleProof;
}

export function nodesTree(leaves: readonly IntentLeaf[]): NodesTree {
  const sorted = leaves.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1));
  const position = new Map(sorted.map((leaf, index) => [leaf.node_id as string, index]));
  const levels: Buffer[][] = [sorted.map(leafHash)];
  for (let level = levels[0]!; level.length > 1; level = levels.at(-1)!) levels.push(parents(level));
  return {
    root: (levels.at(-1)![0] ?? hash(0)).toString("hex"),
    proof: (nodeId) => proofOf(levels, position.get(nodeId)),
  };
}

function parents(level: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at]!, level[at + 1]];
    above.push(right === undefined ? left : hash(1, left, right));
  }
  return above;
}

function proofOf(levels: readonly Buffer[][], index: number | undefined): MerkleProof {
  if (index === undefined) return [];
  const proof: MerkleProof = [];
  let at = index;
  for (const level of levels.slice(0, -1)) {
    const sibling = level[at ^ 1];
    if (sibling !== undefined)
      proof.push({ side: at % 2 === 0 ? "right" : "left", hash: sibling.toString("hex") });
    at >>= 1;
  }
  return proof;
}

export function provesLeaf(leaf: IntentLeaf, proof: MerkleProof, root: string): boolean {
  let current = leafHash(leaf);
  for (const step of proof) {
    const sibling = Buffer.from(step.hash, "hex");
    current = step.side === "left" ? hash(1, sibling, current) : hash(1, current, sibling);
  }
  return current.toString("hex") === root;
}
