// Clocks that are wrong: the control plane's, the node's, or both (SNAP-17, ADR 21).
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { Rejection } from "../../../src/core/protocol/agent-api.ts";
import { TIME_RESET } from "../../../src/core/snapshot/trust-bundle.ts";
import { bootstrapFrame, headFrame, routeFrame } from "../../support/snapshot-frames.ts";
import { at, bundleFrame, bundleOf, HOUR_MS, NOW } from "../../support/trust.ts";
import { openDoor, openTrustingDoor, viaOf, type Answer, type Door } from "./door.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * HOUR_MS;
const AHEAD = 15 * MINUTE_MS;

const signedAt = (time: number) => ({
  issued_at: at(time),
  valid_from: at(time - LIMITS.clockSkewMs),
  expires_at: at(time + 24 * HOUR_MS),
  refresh_after: at(time + 12 * HOUR_MS),
});

/** The first refusal of the answer's own frames: a trust bundle that is overdue is reported beside them. */
async function polled(door: Door, answer: Answer = {}): Promise<Rejection | null> {
  const refused = await door.poll(answer);
  return refused?.code === "SNAPSHOT_HELD_BACK" ? null : refused;
}

const saved = async (door: Door): Promise<string> => {
  await door.restart();
  return at(door.store().time().effective);
};

test("SNAP-17: a head up to 15 minutes ahead raises the floor, and one further ahead is refused and leaves no trace", async () => {
  const door = await openTrustingDoor();
  const further = headFrame(door.keys, { issuedAt: NOW + AHEAD + 1 });
  expect(await polled(door, { head: further })).toMatchObject({ code: "HEAD_REFUSED", subject: "head" });
  expect([door.store().headIssuedAt(), await saved(door)]).toEqual([at(NOW), at(NOW)]);
  expect(await polled(door, { head: headFrame(door.keys, { issuedAt: NOW + AHEAD }) })).toBeNull();
  expect(await saved(door)).toBe(at(NOW + AHEAD));
});

test("SNAP-17: a snapshot further ahead than 15 minutes is refused, also by a node whose floor is ahead of its clock", async () => {
  const door = await openTrustingDoor();
  await polled(door, { head: headFrame(door.keys, { issuedAt: NOW + AHEAD }) });
  const route = (time: number) =>
    routeFrame(door.keys, 5, { header: { ...signedAt(time), valid_from: at(NOW) } });
  expect(await polled(door, { snapshots: [route(NOW + 2 * AHEAD + 1)] })).toMatchObject({
    code: "SNAPSHOT_TIME_REFUSED",
    field: "issued_at",
    step: 7,
  });
  expect([viaOf(door), await saved(door)]).toEqual([undefined, at(NOW + AHEAD)]);
  expect(await polled(door, { snapshots: [route(NOW + 2 * AHEAD)] })).toBeNull();
  expect([viaOf(door), await saved(door)]).toEqual(["mesh", at(NOW + 2 * AHEAD)]);
});

test("SNAP-17: after a control plane that was 12 hours ahead is corrected, a node takes its next head and snapshot", async () => {
  const door = await openTrustingDoor();
  const wrong = NOW + 12 * HOUR_MS;
  await polled(door, {
    head: headFrame(door.keys, { issuedAt: wrong }),
    snapshots: [routeFrame(door.keys, 5, { header: signedAt(wrong) })],
  });
  door.world.now = NOW + 75_000;
  expect(
    await polled(door, {
      head: headFrame(door.keys, { issuedAt: door.world.now }),
      snapshots: [routeFrame(door.keys, 6, { header: signedAt(door.world.now) })],
    }),
  ).toBeNull();
  expect([viaOf(door), door.store().isHeadFresh()]).toEqual(["mesh", true]);
});

test("SNAP-17: an agent that started a year ahead has its snapshots in force again once its clock is corrected", async () => {
  const door = await openTrustingDoor();
  await polled(door, { snapshots: [routeFrame(door.keys, 5)] });
  door.world.now = NOW + 365 * DAY_MS;
  await door.restart();
  expect([viaOf(door), door.store().bundle()]).toEqual([undefined, null]);
  door.world.now = NOW + MINUTE_MS;
  expect(await polled(door)).toBeNull();
  expect(viaOf(door)).toBe("mesh");
  expect(await polled(door, { head: headFrame(door.keys, { issuedAt: NOW + MINUTE_MS }) })).toBeNull();
  expect(door.store().isHeadFresh()).toBe(true);
});

test("SNAP-17: a node that was switched off for a month takes what is signed now, by its own clock", async () => {
  const door = await openTrustingDoor();
  door.world.now = NOW + 31 * DAY_MS;
  await door.restart();
  const now = door.world.now;
  expect(
    await polled(door, {
      head: headFrame(door.keys, { issuedAt: now }),
      snapshots: [routeFrame(door.keys, 5, { header: signedAt(now) })],
    }),
  ).toBeNull();
  expect([viaOf(door), door.store().time().effective]).toEqual(["mesh", now]);
});

test.each([
  ["in 1970", 10_000],
  ["two days before what was signed last", NOW - 2 * DAY_MS],
])(
  "SNAP-17: a node whose clock starts %s learns the time from a head, and takes what follows it",
  async (_when, clock) => {
    const door = await openTrustingDoor();
    const now = NOW + 10 * DAY_MS;
    door.world.now = clock;
    await door.restart();
    const route = routeFrame(door.keys, 5, { header: signedAt(now) });
    expect(await polled(door, { snapshots: [route] })).toMatchObject({ code: "SNAPSHOT_TIME_REFUSED" }); // no head yet
    expect(
      await polled(door, { head: headFrame(door.keys, { issuedAt: now }), snapshots: [route] }),
    ).toBeNull();
    expect([viaOf(door), door.store().time().effective, door.store().isHeadFresh()]).toEqual([
      "mesh",
      now,
      true,
    ]);
  },
);

test("SNAP-17: a node enrolled in 1970 takes its first bundle, head and bootstrap", async () => {
  const door = await openDoor();
  door.world.now = 10_000;
  await door.restart();
  const now = NOW + 10 * DAY_MS;
  expect(
    await polled(door, {
      snapshots: [
        bundleFrame(door.keys),
        bootstrapFrame(door.keys, 1, ["egress_service"], [], signedAt(now)),
      ],
      head: headFrame(door.keys, { issuedAt: now }),
    }),
  ).toBeNull();
  expect([door.store().time().effective, door.store().membership().roles]).toEqual([now, ["egress_service"]]);
});

test("SNAP-17: a node without a clock takes no time from a head that is dated past the end of the trust bundle", async () => {
  const door = await openTrustingDoor();
  door.world.now = 10_000;
  await door.restart();
  const end = NOW + 1000 * HOUR_MS;
  expect(await polled(door, { head: headFrame(door.keys, { issuedAt: end }) })).toMatchObject({
    code: "HEAD_REFUSED",
  });
  expect(await saved(door)).toBe(at(NOW));
});

interface Reset {
  readonly reason?: typeof TIME_RESET | "database_restored";
  readonly lifetimeMs?: number;
}

const resetBundle = (
  door: Door,
  time: number,
  { reason = TIME_RESET, lifetimeMs = 20 * DAY_MS }: Reset = {},
) =>
  bundleFrame(door.keys, {
    bundle: bundleOf(door.keys, { recovery: { from_epoch: 1, reason, opened_at: at(time) } }),
    header: {
      ...signedAt(time),
      authority_epoch: 2,
      config_version: 2,
      expires_at: at(time + lifetimeMs),
      refresh_after: at(time + lifetimeMs / 2),
    },
  });

/** Clock and control plane were ahead together; then the clock is corrected. */
async function floorAhead(aheadMs: number): Promise<Door> {
  const door = await openTrustingDoor();
  door.world.now = NOW + aheadMs;
  expect(await polled(door, { head: headFrame(door.keys, { issuedAt: door.world.now }) })).toBeNull();
  door.world.now = NOW;
  return door;
}

test.each([
  ["half a day ahead", 12 * HOUR_MS],
  ["past the end of the new trust bundle", 21 * DAY_MS],
])("SNAP-17: a floor that is %s comes down by a root-signed reset of a new epoch", async (_how, ahead) => {
  const door = await floorAhead(ahead);
  expect(await polled(door, { head: headFrame(door.keys, { issuedAt: NOW }) })).toMatchObject({
    code: "HEAD_ROLLBACK",
  });
  expect(await polled(door, { snapshots: [resetBundle(door, NOW)] })).toBeNull();
  expect(await saved(door)).toBe(at(NOW));
  expect(
    await polled(door, {
      head: headFrame(door.keys, { issuedAt: NOW, epoch: 2 }),
      snapshots: [routeFrame(door.keys, 1, { header: { authority_epoch: 2, ...signedAt(NOW) } })],
    }),
  ).toBeNull();
  expect([viaOf(door), door.store().isHeadFresh(), await saved(door)]).toEqual(["mesh", true, at(NOW)]);
});

test("SNAP-17: a new epoch for another reason leaves the floor where it is", async () => {
  const door = await floorAhead(12 * HOUR_MS);
  expect(
    await polled(door, { snapshots: [resetBundle(door, NOW, { reason: "database_restored" })] }),
  ).toBeNull();
  expect(await saved(door)).toBe(at(NOW + 12 * HOUR_MS));
});

test("SNAP-17: a new epoch for another reason is refused when its bundle has expired by the floor", async () => {
  const door = await floorAhead(11 * HOUR_MS);
  const short = { lifetimeMs: 6 * HOUR_MS };
  const restored = resetBundle(door, NOW, { ...short, reason: "database_restored" });
  expect(await polled(door, { snapshots: [restored] })).toMatchObject({
    code: "SNAPSHOT_TIME_REFUSED",
    field: "expires_at",
    step: 7,
  });
  expect(await polled(door, { snapshots: [resetBundle(door, NOW, short)] })).toBeNull();
});

test("SNAP-17: a reset of the time is taken once: the same one again lowers nothing", async () => {
  const door = await openTrustingDoor();
  const reset = resetBundle(door, NOW);
  expect(await polled(door, { snapshots: [reset] })).toBeNull();
  await polled(door, { head: headFrame(door.keys, { issuedAt: NOW + AHEAD, epoch: 2 }) });
  expect(await polled(door, { snapshots: [reset] })).toMatchObject({ code: "SNAPSHOT_ROLLBACK" });
  expect(await saved(door)).toBe(at(NOW + AHEAD));
});
