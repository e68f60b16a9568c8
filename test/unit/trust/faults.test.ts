// Every way in which a snapshot's bytes can be wrong, and the verdict on each (SNAP-7, SNAP-14). Beside all of them: the good one.
import { constants, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import type { TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import { verifyIncrement } from "../../../src/trust/increment.ts";
import { keyIdOf, type Signer } from "../../../src/trust/keys.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { CONTENTS, ORGANIZATION, OTHER_ORGANIZATION } from "../../support/trust-contents.ts";
import { activeOf, incrementDraft, incrementFrame } from "../../support/trust-increments.ts";
import * as trust from "../../support/trust.ts";
import {
  assignmentFrame,
  at,
  bundleFrame,
  bundleOf,
  HOUR_MS,
  NOW,
  snapshotFrame,
} from "../../support/trust.ts";

const keys = trust.newKeys();
const online = bundleOf(keys).online_keys[0]!;
const cloudKey = ["AKIA", "IOSFODNN7EXAMPLE"].join("");

interface Fault {
  readonly frame: Buffer;
  readonly context?: Partial<SnapshotContext>;
  readonly step: number;
  readonly code: string;
}

const headed = (header: { [field: string]: Json }) => assignmentFrame(keys, { header });
const withBytes = (bytes: string | Uint8Array) => assignmentFrame(keys, { bytes: Buffer.from(bytes) });
const underBundle = (changes: Partial<TrustBundle>) => ({ bundle: bundleOf(keys, changes) });
const described = (description: string) =>
  snapshotFrame({
    header: { scope_type: "route_policy", organization_ids: [ORGANIZATION] },
    content: { routes: [{ ...(CONTENTS.route_policy["routes"] as object[])[0], description }] },
    signers: [keys.online],
  });
const member = { organizationIds: [ORGANIZATION] };

function flippedSignatureBit(): Buffer {
  const parts = decodeFrame(assignmentFrame(keys));
  const signature = Buffer.from(parts.signatures[0]!.signature, "base64");
  signature[17]! ^= 4;
  const [first] = parts.signatures;
  return encodeFrame({ ...parts, signatures: [{ ...first!, signature: signature.toString("base64") }] });
}

/** node:crypto takes anybody's signature for a key of small order. */
const point = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), Buffer.alloc(32)]);
const smallOrder: Signer = {
  record: { key_id: keyIdOf(point), algorithm: "Ed25519", public_key: point.toString("base64") },
  sign: () => Buffer.alloc(64),
};

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const spki = rsa.publicKey.export({ type: "spki", format: "der" });
const rsaSigner: Signer = {
  record: { key_id: keyIdOf(spki), algorithm: "RSA-PSS", public_key: spki.toString("base64") },
  sign: (bytes) =>
    sign("sha256", bytes, { key: rsa.privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 }),
};

const otherSite = trust.newKeys();
const root = bundleOf(keys).root;
const MAX = Number.MAX_SAFE_INTEGER;

const FAULTS: Record<string, Fault> = {
  "a bit of the signature flipped": {
    frame: flippedSignatureBit(),
    step: 5,
    code: "SNAPSHOT_SIGNATURE_INVALID",
  },
  "an unknown key": {
    frame: assignmentFrame(keys, { signers: [trust.newSigner()] }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "a revoked key": {
    frame: assignmentFrame(keys),
    context: underBundle({ revoked_keys: [online.key_id] }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "an expired key": {
    frame: assignmentFrame(keys),
    context: underBundle({ online_keys: [{ ...online, valid_until: at(NOW) }] }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "another cluster's key": {
    frame: assignmentFrame(otherSite),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "an online key of small order": {
    frame: assignmentFrame(keys, { signers: [smallOrder] }),
    context: underBundle({ online_keys: [{ ...online, ...smallOrder.record }] }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "a root key of small order": {
    frame: bundleFrame(keys, { signers: [smallOrder] }),
    context: { root: { threshold: 1, keys: [smallOrder.record] } },
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "the algorithm swapped in the header": {
    frame: headed({ signature_algorithm: "RS256" }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "the algorithm of another padding": {
    frame: assignmentFrame(keys, { signers: [rsaSigner] }),
    context: underBundle({ online_keys: [{ ...online, ...rsaSigner.record, algorithm: "RS256" }] }),
    step: 4,
    code: "SNAPSHOT_KEY_UNTRUSTED",
  },
  "a bundle that sets a threshold of 0": {
    frame: bundleFrame(keys, { content: { ...bundleOf(keys), root: { ...root, threshold: 0 } } }),
    step: 11,
    code: "SNAPSHOT_CONTENT_INVALID",
  },
  "a believed threshold of 0": {
    frame: bundleFrame(keys),
    context: { root: { ...root, threshold: 0 } },
    step: 5,
    code: "SNAPSHOT_SIGNATURE_INVALID",
  },
  "a believed threshold of -1": {
    frame: bundleFrame(keys),
    context: { root: { ...root, threshold: -1 } },
    step: 5,
    code: "SNAPSHOT_SIGNATURE_INVALID",
  },
  "one root key counted twice": {
    frame: bundleFrame(keys, { signers: [keys.roots[0], keys.roots[0]] }),
    step: 5,
    code: "SNAPSHOT_SIGNATURE_INVALID",
  },
  "two root keys, one of them twice": {
    frame: bundleFrame(keys, { signers: [keys.roots[0], keys.roots[1], keys.roots[1]] }),
    step: 5,
    code: "SNAPSHOT_SIGNATURE_INVALID",
  },
  "another cluster": {
    frame: headed({ cluster_id: trust.OTHER_NODE }),
    step: 2,
    code: "SNAPSHOT_WRONG_CLUSTER",
  },
  "another node": {
    frame: headed({ subject_node_id: trust.OTHER_NODE }),
    step: 3,
    code: "SNAPSHOT_WRONG_NODE",
  },
  "a wrong hash under a valid signature": {
    frame: headed({ content_hash: trust.fingerprint("other") }),
    step: 6,
    code: "SNAPSHOT_HASH_MISMATCH",
  },
  "a version before the accepted one": {
    frame: headed({ config_version: 4 }),
    context: { accepted: () => ({ epoch: 1, version: 5 }) },
    step: 9,
    code: "SNAPSHOT_ROLLBACK",
  },
  "the accepted version again": {
    frame: headed({ config_version: 5 }),
    context: { accepted: () => ({ epoch: 1, version: 5 }) },
    step: 9,
    code: "SNAPSHOT_ROLLBACK",
  },
  "a stale epoch": { frame: headed({}), context: { epoch: 2 }, step: 8, code: "SNAPSHOT_EPOCH_STALE" },
  "an epoch that only the online key opened": {
    frame: headed({ authority_epoch: 2 }),
    step: 8,
    code: "SNAPSHOT_EPOCH_UNKNOWN",
  },
  "anything after a fast-forward to 2^53 - 1, in the same epoch": {
    frame: headed({ config_version: MAX }),
    context: { accepted: () => ({ epoch: 1, version: MAX }) },
    step: 9,
    code: "SNAPSHOT_ROLLBACK",
  },
  "a version of 2^53": { frame: headed({ config_version: 2 ** 53 }), step: 1, code: "SNAPSHOT_MALFORMED" },
  "an end that has passed": {
    frame: headed({ expires_at: at(NOW - 1), refresh_after: at(NOW - 1) }),
    step: 7,
    code: "SNAPSHOT_TIME_REFUSED",
  },
  "a beginning that has not come": {
    frame: headed({ valid_from: at(NOW + 1) }),
    step: 7,
    code: "SNAPSHOT_TIME_REFUSED",
  },
  "an end on 30 February": {
    frame: headed({ expires_at: "2026-02-30T12:00:00.000Z" }),
    step: 1,
    code: "SNAPSHOT_MALFORMED",
  },
  "an end that has passed, on a clock set back": {
    frame: headed({ expires_at: at(NOW), refresh_after: at(NOW), valid_from: at(NOW - HOUR_MS) }),
    context: { time: { local: NOW - HOUR_MS / 2, effective: NOW } },
    step: 7,
    code: "SNAPSHOT_TIME_REFUSED",
  },
  "a scope of the epoch before the bundle's": {
    frame: headed({ config_version: 9 }),
    context: { epoch: 2, accepted: () => ({ epoch: 1, version: 8 }) },
    step: 8,
    code: "SNAPSHOT_EPOCH_STALE",
  },
  "duplicate keys": {
    frame: withBytes('{"assignments":[],"assignments":[]}'),
    step: 11,
    code: "SNAPSHOT_CONTENT_INVALID",
  },
  "a lone surrogate": { frame: withBytes('{"a":"\\ud800"}'), step: 11, code: "SNAPSHOT_CONTENT_INVALID" },
  "a surrogate in UTF-8": {
    frame: withBytes(Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])),
    step: 11,
    code: "SNAPSHOT_CONTENT_INVALID",
  },
  NaN: { frame: withBytes('{"a":NaN}'), step: 11, code: "SNAPSHOT_CONTENT_INVALID" },
  "-0": { frame: withBytes('{"a":-0}'), step: 11, code: "SNAPSHOT_CONTENT_INVALID" },
  "1e400": { frame: withBytes('{"a":1e400}'), step: 11, code: "SNAPSHOT_CONTENT_INVALID" },
  "100,000 levels": { frame: withBytes('{"a":'.repeat(100_000)), step: 11, code: "SNAPSHOT_CONTENT_INVALID" },
  "a raw secret": { frame: described(cloudKey), context: member, step: 12, code: "SNAPSHOT_SECRET_FOUND" },
  "a raw secret in base64": {
    frame: described(Buffer.from(cloudKey).toString("base64")),
    context: member,
    step: 12,
    code: "SNAPSHOT_SECRET_FOUND",
  },
  "a raw secret in JSON in base64": {
    frame: described(Buffer.from(JSON.stringify({ a: [{ password: "hunter2" }] })).toString("base64url")),
    context: member,
    step: 12,
    code: "SNAPSHOT_SECRET_FOUND",
  },
  "another organization's data under a header without it": {
    frame: snapshotFrame({
      header: { scope_type: "route_policy", organization_ids: [OTHER_ORGANIZATION] },
      content: CONTENTS.route_policy,
      signers: [keys.online],
    }),
    context: { organizationIds: [ORGANIZATION, OTHER_ORGANIZATION] },
    step: 10,
    code: "SNAPSHOT_ORGANIZATION_FOREIGN",
  },
  "another organization in its header": {
    frame: headed({ organization_ids: [OTHER_ORGANIZATION] }),
    context: member,
    step: 10,
    code: "SNAPSHOT_ORGANIZATION_FOREIGN",
  },
};

test.each(Object.entries(FAULTS))("SNAP-7: a snapshot with %s is refused", (_, fault) => {
  const { frame, context = {}, step, code } = fault;
  expect(verifySnapshot(frame, trust.contextOf(keys, context))).toMatchObject({
    kind: "rejected",
    step,
    code,
  });
});

test("the same without a fault is accepted, and so is what a clock that was set back has not outlived", () => {
  for (const frame of [assignmentFrame(keys), bundleFrame(keys)])
    expect(verifySnapshot(frame, trust.contextOf(keys)).kind).toBe("accepted");
  expect(verifySnapshot(described("plain words"), trust.contextOf(keys, member)).kind).toBe("accepted");
  const pss = underBundle({ online_keys: [{ ...online, ...rsaSigner.record }] });
  const signed = assignmentFrame(keys, { signers: [rsaSigner] });
  expect(verifySnapshot(signed, trust.contextOf(keys, pss)).kind).toBe("accepted");
});

const [before, after] = [{ peers: [] }, {}];
const draft = incrementDraft(5, before, after);
const onMesh = trust.contextOf(keys, { roles: ["core_mesh"] });
const operations = (path: string): Json => ({ kind: "patch", operations: [{ op: "add", path, value: 1 }] });

test.each<[string, number, string, Json, Json]>([
  ["the wrong base", 9, "INCREMENT_BASE_MISMATCH", draft.content, { peers: null }],
  ["__proto__ in a path", 6, "INCREMENT_RESULT_MISMATCH", operations("/__proto__/x"), before],
  ["an index of 01", 6, "INCREMENT_RESULT_MISMATCH", operations("/peers/01"), before],
])("SNAP-6: an increment with %s is refused", (_, step, code, content, base) => {
  const frame = incrementFrame({ ...draft, content }, [keys.online]);
  expect(verifyIncrement(frame, onMesh, activeOf(4, base))).toMatchObject({ kind: "rejected", step, code });
});
