// Check 8: versions go back only into an epoch that the root keys opened (SNAP-11).
import { expect, test } from "vitest";
import type { Recovery, TrustBundle } from "../../../src/core/snapshot/trust-bundle.ts";
import { verifyStored } from "../../../src/trust/increment.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { assignmentFrame, at, bundleFrame, bundleOf, contextOf, newKeys, NOW } from "../../support/trust.ts";

const keys = newKeys();
const online = (epoch: number, context: Partial<SnapshotContext>, version = 1) =>
  verifySnapshot(
    assignmentFrame(keys, { header: { authority_epoch: epoch, config_version: version } }),
    contextOf(keys, context),
  );
const recovery = (from_epoch: number): Recovery => ({
  from_epoch,
  reason: "database_restored",
  opened_at: at(NOW),
});
const bundleAt = (epoch: number, changes: Partial<TrustBundle> = {}) =>
  bundleFrame(keys, { bundle: bundleOf(keys, changes), header: { authority_epoch: epoch } });
const STALE = { step: 8, code: "SNAPSHOT_EPOCH_STALE", field: "authority_epoch" };
const UNKNOWN = { step: 8, code: "SNAPSHOT_EPOCH_UNKNOWN" };

test("what the online key signs is of the epoch that the trust bundle is of", () => {
  expect(online(2, { epoch: 2 }).kind).toBe("accepted");
  expect(online(1, { epoch: 2 })).toMatchObject(STALE);
  expect(online(3, { epoch: 2 })).toMatchObject({ ...UNKNOWN, field: "authority_epoch" });
  expect(online(1, { epoch: null })).toMatchObject({ ...UNKNOWN, field: "authority_epoch" });
});

test("scopes of two epochs never stand side by side: none is accepted ahead of the trust bundle or behind it", () => {
  const accepted = () => ({ epoch: 2, version: 5 });
  expect(online(2, { epoch: 1, accepted })).toMatchObject(UNKNOWN);
  expect(online(1, { epoch: 1, accepted })).toMatchObject(STALE);
});

test("the online key alone cannot leave its epoch, and a version of 2^53 - 1 has a way back through the root", () => {
  const accepted = () => ({ epoch: 1, version: Number.MAX_SAFE_INTEGER });
  expect(online(1, { accepted, epoch: 1 }, Number.MAX_SAFE_INTEGER)).toMatchObject({
    step: 9,
    code: "SNAPSHOT_ROLLBACK",
  });
  expect(online(2, { accepted, epoch: 1 })).toMatchObject(UNKNOWN);
  const opening = bundleAt(2, { recovery: { ...recovery(1), reason: "versions_exhausted" } });
  expect(verifySnapshot(opening, contextOf(keys)).kind).toBe("accepted");
  expect(online(2, { accepted, epoch: 2 }).kind).toBe("accepted");
});

test.each<[string, number, number, Recovery | null, object]>([
  ["an older epoch", 2, 1, null, STALE],
  ["an older epoch with a recovery", 2, 1, recovery(0), STALE],
  ["a newer epoch without a recovery", 1, 2, null, { ...UNKNOWN, field: "recovery" }],
  ["a newer epoch from one that was not reached", 1, 3, recovery(2), { ...UNKNOWN, field: "recovery" }],
  ["the same epoch with a recovery", 1, 1, recovery(0), { step: 8, field: "recovery" }],
  ["a recovery that leads nowhere", 1, 2, recovery(2), { step: 8, field: "recovery" }],
])("check 8 refuses a bundle with %s", (_, now, epoch, given, verdict) => {
  const result = verifySnapshot(bundleAt(epoch, { recovery: given }), contextOf(keys, { epoch: now }));
  expect(result).toMatchObject({ kind: "rejected", ...verdict });
});

test("a node that was ahead of what was restored follows into the new epoch, and a new node into any", () => {
  const frame = bundleAt(4, { recovery: recovery(1) });
  expect(verifySnapshot(frame, contextOf(keys, { epoch: 3 })).kind).toBe("accepted");
  expect(verifySnapshot(frame, contextOf(keys, { epoch: null })).kind).toBe("accepted");
  expect(verifySnapshot(bundleAt(4), contextOf(keys, { epoch: null })).kind).toBe("accepted");
});

test.each([2, 3])("a new node refuses a bundle of epoch 2 whose recovery begins at epoch %i", (from) => {
  const result = verifySnapshot(bundleAt(2, { recovery: recovery(from) }), contextOf(keys, { epoch: null }));
  expect(result).toMatchObject({ step: 8, code: "SNAPSHOT_CONTENT_INVALID", field: "recovery" });
});

test("the bundle that opened an epoch is read again after a restart", () => {
  const frame = bundleAt(2, { recovery: recovery(1) });
  expect(verifySnapshot(frame, contextOf(keys, { epoch: 2 }))).toMatchObject({ step: 8 });
  expect(verifyStored(frame, contextOf(keys, { epoch: 2 })).kind).toBe("accepted");
  expect(verifyStored(frame, contextOf(keys, { epoch: 3 }))).toMatchObject(STALE);
});
