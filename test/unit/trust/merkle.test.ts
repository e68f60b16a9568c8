import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { MerkleProof } from "../../../src/core/protocol/intent.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { leafHash, nodesTree, provesLeaf, treeOf } from "../../../src/trust/merkle.ts";
import { CONFIGS, fingerprint, leaf } from "../../support/trust.ts";

const nodeId = (n: number) => NodeId.parse(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);
const leaves = (count: number) => Array.from({ length: count }, (_, n) => leaf(nodeId(n * 7)));

test.each(Array.from({ length: 33 }, (_, n) => n + 1))(
  "of %i nodes every one is proved, and by no other's proof or root (SNAP-15)",
  (count) => {
    const all = leaves(count);
    const tree = nodesTree(all);
    const smaller = nodesTree(all.slice(1));
    for (const [index, each] of all.entries()) {
      const proof = tree.proof(each.node_id);
      expect(MerkleProof.parse(proof)).toEqual(proof);
      expect(provesLeaf(each, proof, tree.root)).toBe(true);
      expect(provesLeaf({ ...each, node_id: nodeId(999) }, proof, tree.root)).toBe(false);
      expect(provesLeaf({ ...each, configs: [] }, proof, tree.root)).toBe(false);
      expect(provesLeaf(each, proof, smaller.root)).toBe(false);
      const neighbour = all[(index + 1) % count]!;
      if (count > 1) expect(provesLeaf(each, tree.proof(neighbour.node_id), tree.root)).toBe(false);
    }
  },
);

test("leaves are ordered by node id, lowest first", () => {
  const [low, high] = [leaf(nodeId(1)), leaf(nodeId(2))];
  const inOrder = treeOf([low, high].map((each) => leafHash(canonicalBytes(each))));
  expect(nodesTree([high, low]).root).toBe(inOrder.root.toString("hex"));
});

test("the root is that of the set of nodes, in whatever order they come", () => {
  const arbitrary = fc
    .uniqueArray(fc.nat(10_000), { minLength: 1, maxLength: 40 })
    .map((ids) => ids.map(nodeId));
  fc.assert(
    fc.property(arbitrary, fc.nat(), (ids, pick) => {
      const tree = nodesTree(ids.map((id) => leaf(id)));
      expect(nodesTree(ids.toReversed().map((id) => leaf(id))).root).toBe(tree.root);
      const one = ids[pick % ids.length]!;
      const changed = [{ ...CONFIGS[0]!, sha256: fingerprint("other") }];
      expect(provesLeaf(leaf(one), tree.proof(one), tree.root)).toBe(true);
      expect(provesLeaf(leaf(one, changed), tree.proof(one), tree.root)).toBe(false);
      expect(nodesTree(ids.map((id) => leaf(id, id === one ? changed : CONFIGS))).root).not.toBe(tree.root);
    }),
  );
});

test("a node outside the tree gets no proof that holds, nor does a proof with a step changed", () => {
  const tree = nodesTree(leaves(9));
  expect(tree.proof(nodeId(999))).toEqual([]);
  expect(provesLeaf(leaf(nodeId(999)), [], tree.root)).toBe(false);
  const proof = tree.proof(nodeId(7));
  expect(proof.length).toBeGreaterThan(1);
  for (const index of proof.keys()) {
    const turned = proof.map((step, at) =>
      at === index ? { ...step, side: step.side === "left" ? ("right" as const) : ("left" as const) } : step,
    );
    expect(provesLeaf(leaf(nodeId(7)), turned, tree.root)).toBe(false);
    expect(provesLeaf(leaf(nodeId(7)), proof.toSpliced(index, 1), tree.root)).toBe(false);
  }
});

test("SNAP-15: an inner node cannot be shown as a leaf, nor a leaf as an inner node", () => {
  const [a, b] = [leafHash(Buffer.from("a")), leafHash(Buffer.from("b"))];
  const { root } = treeOf([a, b]);
  // Whoever could choose a leaf's bytes would choose two hashes, and prove what stands below them.
  expect(leafHash(Buffer.concat([a, b]))).not.toEqual(root);
  expect(leafHash(Buffer.concat([Buffer.of(1), a, b]))).not.toEqual(root);
  const hash = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();
  expect(a).toEqual(hash(Buffer.of(0), Buffer.from("a"))); // RFC 6962, 2.1
  expect(root).toEqual(hash(Buffer.of(1), a, b));
});

test("the largest rollout's proofs stay within their bound", () => {
  expect(Math.ceil(Math.log2(LIMITS.rolloutNodesMax))).toBeLessThanOrEqual(LIMITS.merkleProofDepthMax);
});
