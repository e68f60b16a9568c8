// The next trust bundle, composed and signed by the people who hold the root keys (SNAP-8, SNAP-15).
import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { SnapshotId } from "../../../src/core/ids.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import {
  addRootSignature,
  type BundleChange,
  draftBundle,
  nextBundle,
  rootSignatures,
} from "../../../src/trust/bundle-draft.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { codeOf } from "../../support/refusals.ts";
import { at, bundleOf, CLUSTER, contextOf, HOUR_MS, newKeys, newSigner, NOW } from "../../support/trust.ts";

const keys = newKeys();
const [first, second, third] = keys.roots;
const current = bundleOf(keys);
const [online] = current.online_keys;
const [release] = current.release_keys;
const added = newSigner();
const idOf = ({ record }: Signer) => record.key_id;
const draft = (content: TrustBundle, signer: Signer, { epoch = 1, version = 2 } = {}): Buffer =>
  draftBundle(
    {
      snapshotId: SnapshotId.parse("55555555-5555-4555-8555-555555555555"),
      clusterId: CLUSTER,
      version,
      epoch,
      content,
      issuedAt: NOW,
      lifetimeMs: HOUR_MS,
    },
    signer,
  );
const verdict = (frame: Buffer) =>
  verifySnapshot(frame, contextOf(keys, { accepted: () => ({ epoch: 1, version: 1 }) }));

const CHANGES: [string, BundleChange, (bundle: TrustBundle) => unknown][] = [
  [
    "an online key is introduced",
    { kind: "introduce", authority: "online", key: { ...online!, ...added.record } },
    ({ online_keys }) => online_keys.length === 2,
  ],
  [
    "a release key is introduced",
    { kind: "introduce", authority: "release", key: { ...release!, ...added.record } },
    ({ release_keys }) => release_keys.length === 2,
  ],
  [
    "a publisher key is introduced",
    { kind: "introduce", authority: "publisher", key: { ...release!, ...added.record } },
    ({ publisher_keys }) => publisher_keys.length === 1,
  ],
  [
    "an online key is retired",
    { kind: "retire", keyId: idOf(keys.online) },
    ({ online_keys, revoked_keys }) => online_keys.length + revoked_keys.length === 0,
  ],
  [
    "a release key is revoked",
    { kind: "revoke", keyId: idOf(keys.release) },
    ({ release_keys, revoked_keys }) => release_keys.length === 0 && revoked_keys[0] === idOf(keys.release),
  ],
  [
    "a key that stands nowhere is revoked",
    { kind: "revoke", keyId: idOf(added) },
    ({ revoked_keys }) => revoked_keys[0] === idOf(added),
  ],
  ["it is renewed as it is", { kind: "renew" }, (bundle) => isDeepStrictEqual(bundle, current)],
];

test.each(CHANGES)("%s, and a node accepts the bundle with two root signatures", (_, change, isDone) => {
  const next = nextBundle(current, change);
  expect(isDone(next)).toBe(true);
  const one = draft(next, first);
  expect(verdict(one)).toMatchObject({ step: 5, code: "SNAPSHOT_SIGNATURE_INVALID" });
  expect(verdict(addRootSignature(one, second)).kind).toBe("accepted");
});

test("signatures are collected one after the other, and anyone can see who is missing", () => {
  const one = draft(nextBundle(current, { kind: "retire", keyId: idOf(keys.release) }), first);
  expect(rootSignatures(one, current.root)).toEqual({ valid: [idOf(first)], threshold: 2 });
  const two = addRootSignature(one, third);
  expect(rootSignatures(two, current.root).valid).toEqual([idOf(first), idOf(third)]);
  const strange = addRootSignature(two, added);
  expect(rootSignatures(strange, current.root).valid).toEqual([idOf(first), idOf(third)]);
  expect(codeOf(() => addRootSignature(two, third))).toBe("BUNDLE_REFUSED");
});

test("a root key comes and goes with the signatures of both sets", () => {
  const grown = nextBundle(current, {
    kind: "introduce",
    authority: "root",
    key: added.record,
    threshold: 3,
  });
  expect(grown.root).toMatchObject({ threshold: 3 });
  const two = addRootSignature(draft(grown, first), second);
  expect(verdict(two)).toMatchObject({ step: 5 });
  expect(verdict(addRootSignature(two, added)).kind).toBe("accepted");
  const shrunk = nextBundle(current, { kind: "revoke", keyId: idOf(third) });
  expect(shrunk.root.keys).toHaveLength(2);
  expect(verdict(addRootSignature(draft(shrunk, first), second)).kind).toBe("accepted");
});

test("an epoch is opened once: the next bundle does not open it again", () => {
  const recovery = { from_epoch: 1, reason: "database_restored", opened_at: at(NOW) } as const;
  const opening = nextBundle(current, { kind: "epoch", recovery });
  const frame = addRootSignature(draft(opening, first, { epoch: 2, version: 1 }), second);
  expect(verdict(frame)).toMatchObject({ kind: "accepted", header: { authority_epoch: 2 } });
  expect(nextBundle(opening, { kind: "retire", keyId: idOf(keys.release) }).recovery).toBeNull();
});

test.each<[string, BundleChange]>([
  ["a key that stands there already", { kind: "introduce", authority: "online", key: online! }],
  [
    "a key that stands under another authority",
    { kind: "introduce", authority: "release", key: { ...release!, ...keys.online.record } },
  ],
  [
    "a key under another's id",
    { kind: "introduce", authority: "root", key: { ...added.record, key_id: idOf(newSigner()) } },
  ],
  ["a key that is not there, to retire", { kind: "retire", keyId: idOf(added) }],
  ["fewer root keys than must sign", { kind: "retire", keyId: idOf(first), threshold: 3 }],
])("nothing is composed that no node would accept: %s", (_, change) => {
  expect(codeOf(() => nextBundle(current, change))).toBe("BUNDLE_REFUSED");
});

test("a revoked key does not come back, and is not revoked twice", () => {
  const revoked = nextBundle(current, { kind: "revoke", keyId: idOf(keys.online) });
  const back: BundleChange = { kind: "introduce", authority: "online", key: online! };
  expect(codeOf(() => nextBundle(revoked, back))).toBe("BUNDLE_REFUSED");
  expect(codeOf(() => nextBundle(revoked, { kind: "revoke", keyId: idOf(keys.online) }))).toBe(
    "BUNDLE_REFUSED",
  );
});
