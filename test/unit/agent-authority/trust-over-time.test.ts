// Whom a node believes as bundles follow one another: rotation, revocation, expiry, demo (SNAP-8, SNAP-15).
import { join } from "node:path";
import { expect, test } from "vitest";
import { receiveVoidIntent } from "../../../src/agent/authority/receive-void-intent.ts";
import { openSnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { signIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { assignmentFrame, at, bundleFrame, bundleOf, fingerprint, HOUR_MS } from "../../support/trust.ts";
import { headFrame } from "../../support/snapshot-frames.ts";
import { intentOf, newKeys, newSigner, NOW, PROFILE, upgrading, type Keys } from "../../support/trust.ts";
import { createNode, identityOf, verdictOf, type Node } from "./node.ts";

const assignment = (node: Node, config_version: number, target: string, signer: Signer) =>
  assignmentFrame(node.keys, {
    header: { config_version },
    content: { assignments: [upgrading({ target: fingerprint(target) })] },
    signers: [signer],
  });
/** As over the link: somebody is there to answer for it. */
const connected = async () => ({ kind: "open" }) as const;
/** Signed by the roots of both: the old ones let the new ones in. */
const handOver = (from: Keys, to: Keys, config_version: number) =>
  bundleFrame(from, {
    bundle: bundleOf(to),
    header: { config_version },
    signers: [from.roots[0], from.roots[1], to.roots[0], to.roots[1]],
  });
const targetOf = (node: Node) => node.snapshots().assignment()?.content.assignments[0]?.target;

test("a new bundle that revokes the key of the held assignment takes the assignment with it", async () => {
  const node = await createNode();
  const second = newSigner();
  const [online] = bundleOf(node.keys).online_keys;
  const both = { online_keys: [online!, { ...online!, ...second.record }] };
  await node
    .snapshots()
    .apply(bundleFrame(node.keys, { bundle: bundleOf(node.keys, both), header: { config_version: 2 } }));
  await node.snapshots().apply(assignment(node, 1, "v2", second));
  expect(targetOf(node)).toBe(fingerprint("v2"));
  const revoking = bundleOf(node.keys, { online_keys: [online!], revoked_keys: [second.record.key_id] });
  await node.snapshots().apply(bundleFrame(node.keys, { bundle: revoking, header: { config_version: 3 } }));
  expect(node.snapshots().assignment()).toBeNull();
  expect(await node.snapshots().apply(assignment(node, 2, "v3", second))).toMatchObject({
    code: "SNAPSHOT_KEY_UNTRUSTED",
  });
});

/** A node that believes two online keys and knows from a head that `revoked` are stolen; no bundle says so yet. */
async function toldByHead(revoked: (keys: { second: Signer; release: Signer }) => Signer) {
  const node = await createNode();
  const second = newSigner();
  const [online] = bundleOf(node.keys).online_keys;
  const both = bundleOf(node.keys, { online_keys: [online!, { ...online!, ...second.record }] });
  await node.snapshots().apply(bundleFrame(node.keys, { bundle: both, header: { config_version: 2 } }));
  const id = revoked({ second, release: node.keys.release }).record.key_id;
  const head = headFrame(node.keys, { revoked: [{ id, kind: "signing_key" }] });
  expect(await node.snapshots().takeHead(head)).toMatchObject({ kind: "accepted" });
  return { node, second };
}

test("SNAP-8: a command of an online key that a head revoked is refused, and one of another key is taken", async () => {
  const { node, second } = await toldByHead(({ second }) => second);
  expect(verdictOf(await node.deliver({ commandSigner: second }))).toBe("COMMAND_UNTRUSTED");
  expect(verdictOf(await node.deliver())).toBe("accepted");
});

test("SNAP-8: an intent of a release key that a head revoked starts nothing, also after a restart", async () => {
  const { node } = await toldByHead(({ release }) => release);
  expect(verdictOf(await node.deliver())).toBe("INTENT_UNTRUSTED");
  await node.restart();
  expect(verdictOf(await node.deliver({ intent: { serial: 9 } }))).toBe("INTENT_UNTRUSTED");
});

test("SNAP-8: an empty intent of a release key that a head revoked outdates nothing", async () => {
  const { node } = await toldByHead(({ release }) => release);
  const empty = intentOf({ fingerprint: null, run_digest: null, nodes_root: null, serial: 99 });
  const taken = receiveVoidIntent(
    { identity: node.identity, snapshots: node.snapshots(), ledger: node.ledger() },
    signIntent(empty, node.keys.release),
  );
  await expect(taken).rejects.toMatchObject({ code: "INTENT_UNTRUSTED" });
  expect(node.ledger().profile(PROFILE).serial).toBe(0);
});

test("root keys rotate, again and again, and a restart still believes the newest only", async () => {
  const node = await createNode();
  let current = node.keys;
  for (const config_version of [2, 3, 4]) {
    const next = { ...node.keys, roots: newKeys().roots };
    const frame = handOver(current, next, config_version);
    expect(await node.snapshots().apply(frame)).toMatchObject({ code: "DEGRADED_FORBIDDEN" });
    expect((await node.snapshots().apply(frame, connected)).kind).toBe("accepted");
    await node.restart();
    expect(node.snapshots().bundle()?.root).toEqual(bundleOf(next).root);
    const byTheOld = bundleFrame(current, { header: { config_version: config_version + 1 } });
    expect(await node.snapshots().apply(byTheOld)).toMatchObject({ code: "SNAPSHOT_KEY_UNTRUSTED" });
    current = next;
  }
});

test("neither root keys nor required intents come back by waiting until a bundle has expired", async () => {
  const node = await createNode();
  const next = { ...node.keys, roots: newKeys().roots };
  await node.snapshots().apply(handOver(node.keys, next, 2), connected);
  node.world.now = NOW + 2000 * HOUR_MS;
  await node.restart();
  expect(node.snapshots().bundle()).toBeNull();
  const header = { config_version: 3, expires_at: at(NOW + 3000 * HOUR_MS) };
  expect(await node.snapshots().apply(bundleFrame(node.keys, { header }))).toMatchObject({
    code: "SNAPSHOT_KEY_UNTRUSTED",
  });
  const weaker = bundleFrame(next, { bundle: bundleOf(next, { intents_required: false }), header });
  expect(await node.snapshots().apply(weaker)).toMatchObject({ step: 11, field: "intents_required" });
  expect((await node.snapshots().apply(bundleFrame(next, { header }))).kind).toBe("accepted");
});

test.each([
  ["https://control.example:7401", "BUNDLE_REFUSED"],
  ["https://127.0.0.1:7401", "accepted"],
  ["https://[::1]:7401", "accepted"],
])("a bundle marked demo on a node of %s: %s", async (agent_url, outcome) => {
  const node = await createNode();
  const keys = newKeys();
  const store = await openSnapshotStore(
    join(node.dataDir, "other"),
    identityOf(keys, { agent_url }),
    node.clock,
  );
  const result = await store.apply(bundleFrame(keys, { bundle: bundleOf(keys, { demo: true }) }));
  expect(result.kind === "rejected" ? result.code : result.kind).toBe(outcome);
  expect(store.bundle() !== null).toBe(outcome === "accepted");
});

test("another site's bundle is not believed, whatever it says", async () => {
  const node = await createNode();
  const frame = bundleFrame(newKeys(), { header: { config_version: 9, authority_epoch: 9 } });
  expect(await node.snapshots().apply(frame)).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
  expect(node.snapshots().bundle()).toEqual(bundleOf(node.keys));
});
