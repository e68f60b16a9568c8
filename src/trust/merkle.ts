/**
 * Merkle trees in the shape of RFC 6962: leaves and inner nodes are hashed under different prefixes, so neither can be
 * taken for the other; an odd one is carried up unpaired.
 */
import { hash } from "node:crypto";
import type { IntentLeaf, MerkleProof } from "../core/protocol/intent.ts";
import { canonicalBytes } from "./canonical-json.ts";

const [LEAF, INNER] = [Buffer.of(0), Buffer.of(1)];
const sha256 = (...parts: readonly Uint8Array[]): Buffer => hash("sha256", Buffer.concat(parts), "buffer");

export const leafHash = (bytes: Uint8Array): Buffer => sha256(LEAF, bytes);

/** What a way up meets beside it. */
export interface Sibling {
  readonly side: "left" | "right";
  readonly hash: Buffer;
}

export interface Tree {
  readonly root: Buffer;
  wayFrom(index: number): Sibling[];
}

export function treeOf(leaves: readonly Buffer[]): Tree {
  const levels: (readonly Buffer[])[] = [leaves];
  for (let level = leaves; level.length > 1; level = levels.at(-1)!) levels.push(parents(level));
  return {
    root: levels.at(-1)![0] ?? sha256(LEAF),
    wayFrom: (index) =>
      levels.flatMap((level, height) => {
        const at = index >> height;
        const beside = level[at ^ 1];
        return beside === undefined ? [] : [{ side: at % 2 === 0 ? "right" : "left", hash: beside }];
      }),
  };
}

function parents(level: readonly Buffer[]): Buffer[] {
  const above: Buffer[] = [];
  for (let at = 0; at < level.length; at += 2) {
    const [left, right] = [level[at]!, level[at + 1]];
    above.push(right === undefined ? left : sha256(INNER, left, right));
  }
  return above;
}

export const rootAbove = (leaf: Buffer, way: readonly Sibling[]): Buffer =>
  way.reduce(
    (at, { side, hash: beside }) => (side === "left" ? sha256(INNER, beside, at) : sha256(INNER, at, beside)),
    leaf,
  );

/** Over the nodes of an intent. */
export interface NodesTree {
  readonly root: string;
  proof(nodeId: string): MerkleProof;
}

export function nodesTree(leaves: readonly IntentLeaf[]): NodesTree {
  const sorted = leaves.toSorted((a, b) => (a.node_id < b.node_id ? -1 : 1));
  const position = new Map(sorted.map((leaf, index) => [leaf.node_id as string, index]));
  const tree = treeOf(sorted.map((leaf) => leafHash(canonicalBytes(leaf))));
  return {
    root: tree.root.toString("hex"),
    proof(nodeId) {
      const at = position.get(nodeId);
      if (at === undefined) return [];
      return tree.wayFrom(at).map(({ side, hash: beside }) => ({ side, hash: beside.toString("hex") }));
    },
  };
}

export function provesLeaf(leaf: IntentLeaf, proof: MerkleProof, root: string): boolean {
  const way = proof.map(({ side, hash: beside }) => ({ side, hash: Buffer.from(beside, "hex") }));
  return rootAbove(leafHash(canonicalBytes(leaf)), way).toString("hex") === root;
}
