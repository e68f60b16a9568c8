// Checks 7 to 9 one by one: time, epoch and version of a snapshot (SNAP-11, SNAP-17).
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { SnapshotHeader } from "../../../src/core/snapshot/envelope.ts";
import type { Recovery } from "../../../src/core/snapshot/trust-bundle.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import {
  epochAcceptable,
  expiryAcceptable,
  recoveryOpensEpoch,
  timesAcceptable,
  versionNewer,
} from "../../../src/trust/snapshot-order.ts";
import type { SnapshotContext, Subject } from "../../../src/trust/snapshot-subject.ts";
import { parseCanonical } from "../../../src/trust/strict-json.ts";
import {
  assignmentFrame,
  at,
  bundleFrame,
  bundleOf,
  contextOf,
  HOUR_MS,
  newKeys,
  NOW,
} from "../../support/trust.ts";

const keys = newKeys();
const MINUTE_MS = 60_000;
type Fields = { readonly [field: string]: Json };

function subjectOf(bytes: Buffer, fields: Fields, changes: Partial<SnapshotContext>): Subject {
  const frame = decodeFrame(bytes);
  const header = SnapshotHeader.parse({ ...(parseCanonical(frame.header) as Fields), ...fields });
  return { frame, header, context: contextOf(keys, changes), domain: "", contentHash: header.content_hash };
}
const [bundleBytes, assignmentBytes] = [bundleFrame(keys), assignmentFrame(keys)];
const DAY = { expires_at: at(NOW + 24 * HOUR_MS) };
const root = (fields: Fields = {}, changes: Partial<SnapshotContext> = {}) =>
  subjectOf(bundleBytes, { ...DAY, ...fields }, changes);
const online = (fields: Fields = {}, changes: Partial<SnapshotContext> = {}) =>
  subjectOf(assignmentBytes, { ...DAY, ...fields }, changes);

const SET = { time: { local: NOW, effective: NOW } };
const UNSET = { time: { local: NOW, effective: NOW, clockless: true } };
const FAR = { issued_at: at(NOW + HOUR_MS), valid_from: at(NOW + HOUR_MS) };
const SOON = { issued_at: at(NOW + 5 * MINUTE_MS), valid_from: at(NOW + 5 * MINUTE_MS) };
const BEHIND_FLOOR = { time: { local: NOW, effective: NOW + 48 * HOUR_MS } };

test.each<[string, Subject, string | null]>([
  ["a bundle an hour ahead of an unset clock", root(FAR, UNSET), null],
  ["a bundle an hour ahead of a clock that is set", root(FAR, SET), "issued_at"],
  ["an assignment an hour ahead of an unset clock", online(FAR, UNSET), "issued_at"],
  ["a bundle that is valid in five minutes, on a clock that is set", root(SOON, SET), "valid_from"],
  ["an assignment that is valid in five minutes, on an unset clock", online(SOON, UNSET), "valid_from"],
  ["an assignment in force", online(), null],
  [
    "an assignment at its end",
    online({}, { time: { local: NOW, effective: NOW + 24 * HOUR_MS } }),
    "expires_at",
  ],
  ["one a millisecond before", online({}, { time: { local: NOW, effective: NOW + 24 * HOUR_MS - 1 } }), null],
  ["a bundle of a new epoch behind the floor", root({ authority_epoch: 2 }, BEHIND_FLOOR), null],
  ["a bundle of the same epoch behind the floor", root({}, BEHIND_FLOOR), "expires_at"],
  [
    "an assignment of a new epoch behind the floor",
    online({ authority_epoch: 2 }, BEHIND_FLOOR),
    "expires_at",
  ],
  ["the first bundle of all behind the floor", root({}, { ...BEHIND_FLOOR, epoch: null }), null],
  [
    "a first bundle of epoch 0 behind the floor",
    root({ authority_epoch: 0 }, { ...BEHIND_FLOOR, epoch: null }),
    "expires_at",
  ],
  [
    "a bundle of a new epoch that ended by the clock itself",
    root({ authority_epoch: 2 }, { time: { local: NOW + 24 * HOUR_MS, effective: NOW + 24 * HOUR_MS } }),
    "expires_at",
  ],
  ["one to refresh at its end", online({ refresh_after: DAY.expires_at }), null],
  ["one to refresh after its end", online({ refresh_after: at(NOW + 24 * HOUR_MS + 1) }), "refresh_after"],
])("check 7 of %s", (_, subject, field) => {
  const failure = timesAcceptable(subject);
  expect(failure && { code: failure.code, field: failure.field }).toEqual(
    field === null ? null : { code: "SNAPSHOT_TIME_REFUSED", field },
  );
});

const recovering = (reason: Recovery["reason"], from_epoch = 1): Recovery => ({
  from_epoch,
  reason,
  opened_at: at(NOW),
});
const bundleWith = (recovery: Recovery | null): Json => bundleOf(keys, { recovery });
const AT_END = { time: { local: NOW, effective: NOW + 24 * HOUR_MS } };

test.each<[string, Subject, Json, boolean]>([
  ["a bundle before its end", root(), bundleWith(null), true],
  ["a bundle at its end", root({}, AT_END), bundleWith(null), false],
  ["a bundle at its end that resets the time", root({}, AT_END), bundleWith(recovering("time_reset")), true],
  [
    "a bundle at its end that recovers otherwise",
    root({}, AT_END),
    bundleWith(recovering("key_compromised")),
    false,
  ],
  [
    "a bundle at its end with another content",
    root({}, AT_END),
    { recovery: { reason: "time_reset" } },
    false,
  ],
  [
    "an assignment at its end with such a content",
    online({}, AT_END),
    bundleWith(recovering("time_reset")),
    false,
  ],
])("SNAP-17: behind the floor, %s", (_, subject, content, accepted) => {
  const refusal = { code: "SNAPSHOT_TIME_REFUSED", field: "expires_at" };
  if (accepted) expect(expiryAcceptable(subject, content)).toBeNull();
  else expect(expiryAcceptable(subject, content)).toMatchObject(refusal);
});

const STALE = { code: "SNAPSHOT_EPOCH_STALE", field: "authority_epoch" };
const UNKNOWN = { code: "SNAPSHOT_EPOCH_UNKNOWN", field: "authority_epoch" };

test.each<[string, Subject, object | null]>([
  ["an assignment of the bundle's epoch", online(), null],
  ["an assignment of an older epoch", online({}, { epoch: 2 }), STALE],
  ["an assignment of a newer epoch", online({ authority_epoch: 2 }), UNKNOWN],
  ["an assignment before any bundle", online({}, { epoch: null }), UNKNOWN],
  ["a bundle of a newer epoch", root({ authority_epoch: 2 }), null],
  ["a bundle of an older epoch", root({}, { epoch: 2 }), STALE],
  [
    "a bundle older than the one accepted",
    root({}, { epoch: null, accepted: () => ({ epoch: 2, version: 1 }) }),
    STALE,
  ],
  ["the first bundle", root({ authority_epoch: 0 }, { epoch: null }), null],
])("check 8 of %s", (_, subject, failure) => {
  if (failure === null) expect(epochAcceptable(subject)).toBeNull();
  else expect(epochAcceptable(subject)).toMatchObject(failure);
});

const INVALID = { code: "SNAPSHOT_CONTENT_INVALID", field: "recovery" };
const second = { authority_epoch: 2 };
const lost = (from: number | null) =>
  bundleWith(from === null ? null : recovering("database_restored", from));
const cannot = (why: string) => ({
  code: "SNAPSHOT_EPOCH_UNKNOWN",
  field: "recovery",
  reason: `epoch 1 cannot become ${why}`,
});

test.each<[string, Subject, Json, object | null]>([
  ["a bundle of the same epoch without a recovery", root(), lost(null), null],
  ["a bundle of the same epoch with a recovery", root(), lost(0), INVALID],
  ["a recovery to the epoch it leaves", root(second), lost(2), INVALID],
  ["a recovery to an older epoch", root(second), lost(3), INVALID],
  ["a recovery from this node's epoch", root(second), lost(1), null],
  ["a recovery from an epoch before", root(second), lost(0), null],
  [
    "a recovery from an epoch that this node never saw",
    root({ authority_epoch: 3 }),
    lost(2),
    cannot("3: its recovery begins at epoch 2"),
  ],
  ["a new epoch without a recovery", root(second), lost(null), cannot("2: it holds no recovery")],
  ["a first bundle without a recovery", root(second, { epoch: null }), lost(null), null],
  ["a first bundle with a recovery", root(second, { epoch: null }), lost(1), null],
  ["a first bundle with a recovery that leads nowhere", root(second, { epoch: null }), lost(2), INVALID],
  ["a content that is no bundle", root(second), { recovery: null }, null],
  ["another scope with such a content", online(second), lost(null), null],
])("SNAP-11: the second half of check 8 of %s", (_, subject, content, failure) => {
  if (failure === null) expect(recoveryOpensEpoch(subject, content)).toBeNull();
  else expect(recoveryOpensEpoch(subject, content)).toMatchObject(failure);
});

test.each([
  [null, true],
  [{ epoch: 1, version: 4 }, true],
  [{ epoch: 0, version: 9 }, true],
  [{ epoch: 1, version: 5 }, false],
  [{ epoch: 1, version: 6 }, false],
  [{ epoch: 2, version: 1 }, false],
])("check 9 of epoch 1 version 5 after %j: newer is %s", (accepted, newer) => {
  const failure = versionNewer(online({ config_version: 5 }, { accepted: () => accepted }));
  if (newer) expect(failure).toBeNull();
  else expect(failure).toMatchObject({ code: "SNAPSHOT_ROLLBACK", field: "config_version" });
});
