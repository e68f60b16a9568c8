// Checks 7 to 12 of a snapshot: its time, its place in the order, its role, its content (SNAP-7).
import { expect, test } from "vitest";
import { SnapshotId } from "../../../src/core/ids.ts";
import type { Json } from "../../../src/core/json.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { signSnapshot } from "../../../src/trust/snapshot.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { assignmentFrame, at, bundleFrame, bundleOf, contextOf, newKeys } from "../../support/trust.ts";
import { CLUSTER, HOUR_MS, NODE, NOW, upgrading } from "../../support/trust.ts";

const keys = newKeys();
const verdictOf = (bytes: Buffer, context: Partial<SnapshotContext> = {}) =>
  verifySnapshot(bytes, contextOf(keys, context));
const headed = (header: { [field: string]: Json }) => assignmentFrame(keys, { header });

test.each([
  ["expires_at", { expires_at: at(NOW), refresh_after: at(NOW) }],
  ["valid_from", { valid_from: at(NOW + 1) }],
  ["issued_at", { issued_at: at(NOW + LIMITS.issuedAheadMaxMs + 1) }],
  ["refresh_after", { refresh_after: at(NOW + 25 * HOUR_MS) }],
])("check 7 refuses a time that is not acceptable: %s", (field, header) => {
  expect(verdictOf(headed(header))).toMatchObject({ step: 7, code: "SNAPSHOT_TIME_REFUSED", field });
});

test("times are compared with the right clock: starts with the local one, ends with the one that never goes back (SNAP-17)", () => {
  const bytes = headed({ valid_from: at(NOW), expires_at: at(NOW + HOUR_MS), refresh_after: at(NOW) });
  const under = (local: number, effective: number) => verdictOf(bytes, { time: { local, effective } });
  expect(under(NOW, NOW)).toMatchObject({ kind: "accepted" });
  expect(under(NOW - 1, NOW)).toMatchObject({ step: 7, field: "valid_from" });
  expect(under(NOW, NOW + HOUR_MS)).toMatchObject({ step: 7, field: "expires_at" });
});

test("a node whose clock runs minutes behind the server's accepts a fresh snapshot, ten minutes behind it does not", () => {
  const { frame } = signSnapshot(
    {
      snapshotId: SnapshotId.parse("55555555-5555-4555-8555-555555555555"),
      clusterId: CLUSTER,
      subject: NODE,
      scope: "service_assignment",
      roles: [],
      version: 1,
      epoch: 1,
      issuedAt: NOW,
      lifetimeMs: HOUR_MS,
      content: { assignments: [] },
    },
    [keys.online],
  );
  const behind = (ms: number) => ({ time: { local: NOW - ms, effective: NOW - ms } });
  expect(verdictOf(frame, behind(4 * 60_000))).toMatchObject({ kind: "accepted" });
  expect(verdictOf(frame, behind(10 * 60_000))).toMatchObject({ step: 7, field: "valid_from" });
});

test.each<[number, string, number, number]>([
  [8, "SNAPSHOT_EPOCH_STALE", 2, 1],
  [9, "SNAPSHOT_ROLLBACK", 1, 6],
  [9, "SNAPSHOT_ROLLBACK", 1, 5],
])(
  "check %i answers %s when epoch %i version %i was accepted and epoch 1 version 5 comes",
  (step, code, epoch, version) => {
    const verdict = verdictOf(headed({ config_version: 5 }), { accepted: () => ({ epoch, version }) });
    expect(verdict).toMatchObject({ kind: "rejected", step, code });
  },
);

test("a newer epoch outranks any version, so a fast-forward to 2^53 - 1 has a way back (SNAP-11)", () => {
  const accepted = () => ({ epoch: 1, version: Number.MAX_SAFE_INTEGER });
  const way = { accepted, epoch: 2 };
  expect(verdictOf(headed({ authority_epoch: 2 }), way)).toMatchObject({ kind: "accepted" });
  expect(verdictOf(headed({}), { accepted })).toMatchObject({ step: 9 });
});

test("check 10 refuses a role that the node does not have", () => {
  const verdict = { step: 10, code: "SNAPSHOT_SCOPE_EXCEEDED", field: "roles" };
  expect(verdictOf(headed({ roles: ["egress_service", "ingress"] }))).toMatchObject(verdict);
  expect(verdictOf(headed({ roles: [] }))).toMatchObject({ kind: "accepted" });
});

test.each<[string, string, Json]>([
  ["assignments.0.target", "a target that is no digest", { assignments: [{ ...upgrading(), target: "x" }] }],
  ["assignments.0", "a field too many", { assignments: [{ ...upgrading(), note: "x" }] }],
  ["assignments", "no section", {}],
  ["content", "no object", 7],
])("check 11 refuses content at %s: %s", (field, _, content) => {
  const verdict = { step: 11, code: "SNAPSHOT_CONTENT_INVALID", field };
  expect(verdictOf(assignmentFrame(keys, { content }))).toMatchObject(verdict);
});

test.each([
  ["nothing that is JSON", "hello"],
  ["duplicate keys", '{"assignments":[],"assignments":[]}'],
  ["100,000 levels", "[".repeat(100_000)],
  ["bytes that are not UTF-8", Buffer.from([0xff])],
])("check 11 refuses content with %s, hashed and signed as it is", (_, text) => {
  const bytes = assignmentFrame(keys, { bytes: Buffer.from(text) });
  expect(verdictOf(bytes)).toMatchObject({ step: 11, code: "SNAPSHOT_CONTENT_INVALID" });
});

test("check 12 refuses a secret in the only free words that a content has: a name (SNAP-5)", () => {
  const [release] = bundleOf(keys).release_keys;
  const named = (name: string) =>
    verdictOf(bundleFrame(keys, { bundle: bundleOf(keys, { release_keys: [{ ...release!, name }] }) }));
  const verdict = { step: 12, code: "SNAPSHOT_SECRET_FOUND", field: "content.release_keys.0.name" };
  expect(named(["AKIA", "IOSFODNN7EXAMPLE"].join(""))).toMatchObject(verdict);
  expect(named("ann")).toMatchObject({ kind: "accepted" });
});
