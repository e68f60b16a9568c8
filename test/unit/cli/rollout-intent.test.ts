import { describe, expect, test } from "vitest";
import { composeIntent, signedIntent } from "../../../src/cli/rollout/intent.ts";
import { Digest, NodeId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { runDigest, verifyIntent } from "../../../src/trust/intent.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { nodesTree, provesLeaf } from "../../../src/trust/merkle.ts";
import { bundle, CHECKSUM, release, time } from "./rollout-site.ts";
import { ROLLOUT_ID, uuid } from "./samples.ts";
import { PINS } from "./support.ts";

describe("the intent of a rollout (SNAP-15)", () => {
  const wish = {
    profile: ProfileId.parse("demo-http"),
    run: { args: ["a"], env: {}, user: null },
  };
  const configs = [{ path: "a.conf", mode: "0644", sha256: Digest.parse(CHECKSUM) }];
  const leaves = [1, 2, 3].map((n) => ({ node_id: NodeId.parse(uuid(n)), configs }));
  const facts = {
    clusterId: PINS.cluster_id,
    rolloutId: RolloutId.parse(ROLLOUT_ID),
    wish,
    leaves,
    fingerprint: Digest.parse(CHECKSUM),
    now: time.local,
    windowMs: 3_600_000,
    maxAttempts: 3,
    rollback: true,
    canarySeed: Buffer.alloc(32, 7),
  };

  test("verifies with the release key, and proves each node's leaf", () => {
    const { intent } = verifyIntent(Buffer.from(signedIntent(facts, release), "base64"), bundle, time);
    expect(intent).toEqual(composeIntent(facts));
    expect(intent).toMatchObject({
      serial: time.local,
      run_digest: runDigest(wish.run),
      rollback: "previous",
    });
    const tree = nodesTree(leaves);
    for (const leaf of leaves)
      expect(provesLeaf(leaf, tree.proof(leaf.node_id), intent.nodes_root!)).toBe(true);
  });

  test("proves no leaf that was changed: another node, another config, another mode", () => {
    const { nodes_root } = composeIntent(facts);
    const tree = nodesTree(leaves);
    const [leaf] = leaves;
    const proof = tree.proof(leaf!.node_id);
    const config = leaf!.configs[0]!;
    for (const changed of [
      { ...leaf!, node_id: NodeId.parse(uuid(4)) },
      { ...leaf!, configs: [] },
      { ...leaf!, configs: [{ ...config, mode: "0777" }] },
      { ...leaf!, configs: [{ ...config, sha256: digestOf("evil") }] },
    ])
      expect(provesLeaf(changed, proof, nodes_root!)).toBe(false);
  });

  test("a changed byte, or a key that the bundle does not name, is not trusted", () => {
    const bytes = Buffer.from(signedIntent(facts, release), "base64");
    const flipped = Buffer.from(bytes);
    flipped[40] = flipped[40]! ^ 1;
    expect(() => verifyIntent(flipped, bundle, time)).toThrow();
    const stranger = Buffer.from(signedIntent(facts, generateSigner().signer), "base64");
    expect(() => verifyIntent(stranger, bundle, time)).toThrow("is not in the trust bundle");
  });
});
