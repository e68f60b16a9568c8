// Checks 1 to 6 of a snapshot, which look at its header and its hash (SNAP-7).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { assignmentFrame, bundleFrame, bundleOf, contextOf, fingerprint } from "../../support/trust.ts";
import { newKeys, newSigner, OTHER_NODE, upgrading } from "../../support/trust.ts";

const keys = newKeys();
const stranger = newSigner();
const signedBy = (signer: Signer) => assignmentFrame(keys, { signers: [signer] });
const rejected = (bytes: Buffer) => verifySnapshot(bytes, contextOf(keys));

test("a snapshot that passes all twelve checks gives its header and its content", () => {
  expect(rejected(assignmentFrame(keys))).toMatchObject({
    kind: "accepted",
    header: { scope_type: "service_assignment", config_version: 1 },
    content: { assignments: [upgrading()] },
  });
  const first = verifySnapshot(bundleFrame(keys), contextOf(keys, { bundle: null }));
  expect(first).toMatchObject({ kind: "accepted", content: bundleOf(keys) });
});

test.each<[number, string, string, { [field: string]: Json }]>([
  [1, "SNAPSHOT_SCHEMA_UNSUPPORTED", "schema_version", { schema_version: 2, novelty: 1 }],
  [1, "SNAPSHOT_MALFORMED", "schema_version", { schema_version: "1" }],
  [1, "SNAPSHOT_MALFORMED", "expires_at", { expires_at: "2026-02-30T00:00:00.000Z" }],
  [1, "SNAPSHOT_MALFORMED", "config_version", { config_version: 2 ** 53 }],
  [1, "SNAPSHOT_MALFORMED", "config_version", { config_version: -1 }],
  [1, "SNAPSHOT_MALFORMED", "authority_epoch", { authority_epoch: 0.5 }],
  [1, "SNAPSHOT_MALFORMED", "header", { novelty: 1 }],
  [1, "SNAPSHOT_MALFORMED", "scope_type", { scope_type: "everything" }],
  [1, "SNAPSHOT_MALFORMED", "signature_algorithm", { signature_algorithm: "none" }],
  [2, "SNAPSHOT_WRONG_CLUSTER", "cluster_id", { cluster_id: OTHER_NODE }],
  [3, "SNAPSHOT_WRONG_NODE", "subject_node_id", { subject_node_id: OTHER_NODE }],
  [3, "SNAPSHOT_WRONG_NODE", "subject_node_id", { subject_node_id: "shared" }],
  [4, "SNAPSHOT_KEY_UNTRUSTED", "signer_key_id", { signer_key_id: stranger.record.key_id }],
  [4, "SNAPSHOT_KEY_UNTRUSTED", "signer_key_id", { signature_algorithm: "RS256" }],
  [6, "SNAPSHOT_HASH_MISMATCH", "content_hash", { content_hash: fingerprint("other") }],
])("check %i answers %s at %s for a signed header with %j", (step, code, field, header) => {
  expect(rejected(assignmentFrame(keys, { header }))).toMatchObject({ kind: "rejected", step, code, field });
});

test("check 1 refuses what is no frame", () => {
  const verdict = { kind: "rejected", step: 1, code: "SNAPSHOT_MALFORMED", field: "frame" };
  expect(rejected(Buffer.from("hello"))).toMatchObject(verdict);
});

test.each([
  ["a stranger's", signedBy(stranger)],
  ["a release key's", signedBy(keys.release)],
  ["a root key's", signedBy(keys.roots[0])],
  ["the online key's, on a trust bundle", bundleFrame(keys, { signers: [keys.online] })],
  ["a stranger's, beside another's", assignmentFrame(keys, { signers: [stranger, newSigner()] })],
])("check 4 refuses a signature that is %s", (_, bytes) => {
  expect(rejected(bytes)).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
});

test("check 4 refuses everything online before a trust bundle is in force", () => {
  const verdict = verifySnapshot(assignmentFrame(keys), contextOf(keys, { bundle: null }));
  expect(verdict).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
});

test("check 5 refuses another header's signature, check 6 other content under a good one", () => {
  const parts = decodeFrame(assignmentFrame(keys));
  const { signatures } = decodeFrame(assignmentFrame(keys, { header: { config_version: 9 } }));
  const borrowed = rejected(encodeFrame({ ...parts, signatures }));
  expect(borrowed).toMatchObject({ step: 5, code: "SNAPSHOT_SIGNATURE_INVALID", field: "signature" });
  const swapped = rejected(encodeFrame({ ...parts, content: Buffer.from("{}") }));
  expect(swapped).toMatchObject({ step: 6, code: "SNAPSHOT_HASH_MISMATCH", field: "content_hash" });
});
