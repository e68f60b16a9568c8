// An increment leads from exactly one base to the content of the next full snapshot (SNAP-6).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { contentHashOf } from "../../../src/core/snapshot/increment.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { digestOf, digestOfJson } from "../../../src/trust/digest.ts";
import { decodeFrame, signFrame } from "../../../src/trust/frame.ts";
import {
  signIncrement,
  verifyIncrement,
  verifyStored,
  type IncrementDraft,
} from "../../../src/trust/increment.ts";
import { incrementBetween } from "../../../src/trust/increment-changes.ts";
import { signSnapshot } from "../../../src/trust/snapshot.ts";
import { SNAPSHOT_DOMAIN } from "../../../src/trust/snapshot-signer.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { refusalOf } from "../../support/refusals.ts";
import { activeOf, envelopeFor, incrementDraft, incrementFrame } from "../../support/trust-increments.ts";
import { at, contextOf, fingerprint, newKeys, newSigner, NOW, OTHER_NODE } from "../../support/trust.ts";

const keys = newKeys();
const context = contextOf(keys, { roles: ["core_mesh"] });
const peer = (port: number): Json => ({ node_id: OTHER_NODE, address: `10.0.0.2:${port}`, roles: ["thin"] });
const before: Json = { peers: [peer(1), peer(2), peer(3)] };
const after: Json = { peers: [peer(1), peer(9), peer(3)] };
const draft = incrementDraft(5, before, after);
const frame = signIncrement(draft, [keys.online]).frame;
const active = activeOf(4, before);
const accepted = verifyIncrement(frame, context, active);

test("the result is the content of the full snapshot of that version, byte for byte", () => {
  expect(accepted).toMatchObject({ kind: "accepted", content: after });
  const full = signSnapshot({ ...envelopeFor(5), content: after }, [keys.online]);
  if (accepted.kind === "rejected") throw new Error(accepted.reason);
  expect(contentHashOf(accepted.header)).toBe(full.header.content_hash);
});

test("what is kept is verified again by itself, without the base; on the wire it is nothing", () => {
  if (accepted.kind === "rejected") throw new Error(accepted.reason);
  expect(verifyStored(accepted.stored, context)).toMatchObject({ kind: "accepted", content: after });
  expect(verifySnapshot(accepted.stored, context)).toMatchObject({ step: 1, code: "SNAPSHOT_MALFORMED" });
  expect(verifyIncrement(accepted.stored, context, active)).toMatchObject({ step: 6 });
  expect(verifyStored(frame, context)).toMatchObject({ step: 6, code: "SNAPSHOT_HASH_MISMATCH" });
  const full = signSnapshot({ ...envelopeFor(5), content: after }, [keys.online]).frame;
  expect(verifyStored(full, context)).toMatchObject({ kind: "accepted", content: after });
  expect(verifyIncrement(full, context, active)).toMatchObject({ step: 1, code: "SNAPSHOT_MALFORMED" });
});

const MISMATCH = { kind: "rejected", step: 9, code: "INCREMENT_BASE_MISMATCH", field: "base_config_version" };

test.each([
  ["nothing", null, "nothing"],
  ["an older version", activeOf(3, before), "version 3 of epoch 1"],
  ["other content under that version", activeOf(4, after), "version 4 of epoch 1"],
  ["that version of another epoch", activeOf(4, before, 0), "version 4 of epoch 0"],
])("an increment is refused on %s: version gaps mean full resync", (_, base, has) => {
  const reason = `it is for version 4; this node has ${has}`;
  expect(verifyIncrement(frame, context, base)).toMatchObject({ ...MISMATCH, reason });
});

test("an increment that was applied is not applied again, nor an older one after it", () => {
  const later = { ...context, accepted: () => ({ epoch: 1, version: 5 }) };
  expect(verifyIncrement(frame, later, activeOf(5, after))).toMatchObject({
    step: 9,
    code: "SNAPSHOT_ROLLBACK",
  });
});

test.each<[number, string, { [field: string]: Json }]>([
  [1, "SNAPSHOT_SCHEMA_UNSUPPORTED", { schema_version: 2 }],
  [1, "SNAPSHOT_MALFORMED", { next_config_version: 6 }],
  [1, "SNAPSHOT_MALFORMED", { base_config_version: 5 }],
  [1, "SNAPSHOT_MALFORMED", { scope_type: "trust_bundle" }],
  [1, "SNAPSHOT_MALFORMED", { result_content_hash: "x" }],
  [2, "SNAPSHOT_WRONG_CLUSTER", { cluster_id: OTHER_NODE }],
  [3, "SNAPSHOT_WRONG_NODE", { subject_node_id: OTHER_NODE }],
  [3, "SNAPSHOT_WRONG_NODE", { subject_node_id: "shared" }],
  [4, "SNAPSHOT_KEY_UNTRUSTED", { signer_key_id: newSigner().record.key_id }],
  [4, "SNAPSHOT_KEY_UNTRUSTED", { signature_algorithm: "RSA-PSS" }],
  [6, "SNAPSHOT_HASH_MISMATCH", { content_hash: fingerprint("x") }],
  [6, "INCREMENT_RESULT_MISMATCH", { result_content_hash: fingerprint("x") }],
  [7, "SNAPSHOT_TIME_REFUSED", { expires_at: at(NOW), refresh_after: at(NOW) }],
  [8, "SNAPSHOT_EPOCH_STALE", { authority_epoch: 0 }],
  [8, "SNAPSHOT_EPOCH_UNKNOWN", { authority_epoch: 2 }],
  [9, "INCREMENT_BASE_MISMATCH", { base_config_version: 3 }],
  [9, "INCREMENT_BASE_MISMATCH", { base_content_hash: fingerprint("x") }],
  [10, "SNAPSHOT_SCOPE_EXCEEDED", { roles: ["thin"] }],
  [10, "SNAPSHOT_SCOPE_EXCEEDED", { roles: ["core_mesh", "thin"] }],
  [9, "INCREMENT_BASE_MISMATCH", { roles: ["core_mesh", "thin"], base_config_version: 3 }],
])("check %i answers %s for a signed increment with %j", (step, code, header) => {
  const spoiled = incrementFrame({ ...draft, content: draft.content }, [keys.online], header);
  expect(verifyIncrement(spoiled, context, active)).toMatchObject({ kind: "rejected", step, code });
});

test.each([
  ["next_config_version", 6],
  ["base_config_version", 5],
  ["scope_type", "trust_bundle"],
])("a misshapen increment is refused by its field %s", (field, value) => {
  const spoiled = incrementFrame(draft, [keys.online], { [field]: value });
  expect(verifyIncrement(spoiled, context, active)).toMatchObject({ step: 1, field });
});

test("check 11 refuses changes and a stored content that are signed and not canonical JSON", () => {
  const spaced = Buffer.from('{ "peers": [] }');
  const { header } = signIncrement(draft, [keys.online]);
  const [domain, signers] = ["fairlead/increment/v1", [keys.online]] as const;
  const changes = signFrame(domain, { ...header, content_hash: digestOf(spaced) }, spaced, signers);
  const verdict = { step: 11, code: "SNAPSHOT_CONTENT_INVALID", field: "content" };
  expect(verifyIncrement(changes, context, active)).toMatchObject(verdict);
  const stored = signFrame(domain, { ...header, result_content_hash: digestOf(spaced) }, spaced, signers);
  expect(verifyStored(stored, context)).toMatchObject(verdict);
});

test("an increment may lead to a content of the bound's length, and to none that is a byte longer", () => {
  const envelope = canonicalBytes({ peers: ["", "a"] }).length;
  const verdictOf = (bytes: number) => {
    const long = "x".repeat(bytes - envelope);
    const base = activeOf(4, { peers: [long] });
    const content = { kind: "patch", operations: [{ op: "add", path: "/peers/-", value: "a" }] };
    const resultHash = digestOfJson({ peers: [long, "a"] });
    const named = { ...draft, base: { version: 4, contentHash: base.contentHash }, content, resultHash };
    return verifyIncrement(incrementFrame(named, [keys.online]), context, base);
  };
  expect(verdictOf(LIMITS.snapshotContentBytesMax)).toMatchObject({ step: 11 }); // strings are no peers
  expect(verdictOf(LIMITS.snapshotContentBytesMax + 1)).toMatchObject({
    step: 6,
    code: "INCREMENT_RESULT_MISMATCH",
  });
});

test("check 5: a signature for a full snapshot is none for an increment", () => {
  const { header, content } = decodeFrame(frame);
  const borrowed = signFrame(SNAPSHOT_DOMAIN, parseCanonical(header), content, [keys.online]);
  const verdict = { step: 5, code: "SNAPSHOT_SIGNATURE_INVALID" };
  expect(verifyIncrement(borrowed, context, active)).toMatchObject(verdict);
});

const patch = (...operations: Json[]): Json => ({ kind: "patch", operations });
/** Signed by the online key, with the hash of what it claims to lead to. */
const signedChanges = (content: Json, result: Json) =>
  verifyIncrement(
    incrementFrame({ ...draft, content, resultHash: digestOfJson(result) }, [keys.online]),
    context,
    active,
  );

test.each<[string, Json]>([
  ["a path that leads nowhere", patch({ op: "replace", path: "/peers/7", value: 1 })],
  ["an index with a zero in front", patch({ op: "replace", path: "/peers/01", value: peer(9) })],
  ["a test that does not hold", patch({ op: "test", path: "/peers", value: [] })],
  ["a prototype in its path", patch({ op: "add", path: "/__proto__/polluted", value: 1 })],
  ["another result", patch({ op: "replace", path: "/peers/1", value: peer(8) })],
])("SNAP-6: changes with %s are refused", (_, content) => {
  const verdict = { kind: "rejected", step: 6, code: "INCREMENT_RESULT_MISMATCH" };
  expect(signedChanges(content, after)).toMatchObject(verdict);
});

test.each<[string, Json]>([
  ["no operation", patch()],
  ["an unknown operation", patch({ op: "merge", path: "/peers", value: [] })],
  ["a path that is no pointer", patch({ op: "remove", path: "peers" })],
  ["a member too many", { ...(draft.content as object), note: 1 }],
  ["nothing that is known", []],
])("check 11 refuses changes with %s", (_, content) => {
  const verdict = { kind: "rejected", step: 11, code: "SNAPSHOT_CONTENT_INVALID" };
  expect(signedChanges(content, after)).toMatchObject(verdict);
});

test("SNAP-5: the result passes checks 10 to 12 like a full snapshot's content", () => {
  const put = (sections: { [name: string]: Json }, result: Json) =>
    signedChanges({ kind: "sections", sections }, result);
  expect(put({ users: [] }, { ...(before as object), users: [] })).toMatchObject({
    step: 10,
    code: "SNAPSHOT_SCOPE_EXCEEDED",
    field: "users",
  });
  expect(put({ peers: [{ password: "x" }] }, { peers: [{ password: "x" }] })).toMatchObject({ step: 11 });
  const leak = [{ ...(peer(1) as object), address: `${["AKIA", "IOSFODNN7EXAMPLE"].join("")}:1` }];
  expect(put({ peers: leak }, { peers: leak })).toMatchObject({ step: 12, code: "SNAPSHOT_SECRET_FOUND" });
  expect(put({ peers: [] }, { peers: [] }).kind).toBe("accepted");
});

test("a section is replaced, or removed by null; a member called __proto__ is no section", () => {
  const sections = (text: string): Json => ({ kind: "sections", sections: JSON.parse(text) as Json });
  expect(signedChanges(sections('{"peers":null}'), {})).toMatchObject({ kind: "accepted", content: {} });
  const hidden = JSON.parse('{"__proto__":{"peers":[]}}') as Json;
  expect(signedChanges(sections('{"__proto__":{"peers":[]},"peers":null}'), hidden)).toMatchObject({
    step: 10,
    field: "__proto__",
  });
});

test("the shorter of patch and sections is taken, and nothing for nothing", () => {
  expect(incrementBetween(before, before)).toBeNull();
  expect(incrementBetween(before, after)).toMatchObject({ kind: "patch" });
  expect(incrementBetween(before, { peers: [] })).toEqual({ kind: "sections", sections: { peers: [] } });
  expect(incrementBetween(before, {})).toEqual({ kind: "sections", sections: { peers: null } });
  expect(incrementBetween({}, { peers: null })).toMatchObject({ kind: "patch" });
});

test("what is no step forward is not signed, and the refusal says why", () => {
  const spoiled: [IncrementDraft, string][] = [
    [{ ...draft, base: { ...draft.base, version: 5 } }, "not before next_config_version"],
    [{ ...draft, scope: "trust_bundle" }, "a trust bundle has no increments"],
    [{ ...draft, content: { kind: "patch", operations: [] } }, "these changes are no increment"],
  ];
  for (const [wrong, message] of spoiled) {
    const refusal = refusalOf(() => signIncrement(wrong, [keys.online]));
    expect(refusal).toMatchObject({ code: "SNAPSHOT_CONTENT_INVALID", message });
  }
});
