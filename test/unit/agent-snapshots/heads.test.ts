// Heads, effective time and what does not arrive (SNAP-10, SNAP-11, SNAP-17).
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import {
  bootstrapFrame,
  hashOf,
  headFrame,
  policyFrame,
  routeFrame,
  routes,
} from "../../support/snapshot-frames.ts";
import { at, bundleFrame, bundleOf, HOUR_MS, newSigner, NODE, NOW } from "../../support/trust.ts";
import { openTrustingDoor, viaOf, type Door } from "./door.ts";

const MINUTE_MS = 60_000;
const naming = (version: number, via: Parameters<typeof routes>[0] = "mesh", epoch = 1) => ({
  route_policy: { epoch, version, content_hash: hashOf(routes(via)) },
});

test("SNAP-17: a head raises effective time, and a clock set back, also over a restart, does not lower it", async () => {
  const door = await openTrustingDoor();
  door.world.now = NOW + 10 * MINUTE_MS;
  await door.poll({ head: headFrame(door.keys, { issuedAt: door.world.now }) });
  door.world.now = NOW - HOUR_MS;
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect(door.store().time().effective).toBe(NOW + 10 * MINUTE_MS);
    expect(door.store().headIssuedAt()).toBe(at(NOW + 10 * MINUTE_MS));
  }
});

test("SNAP-17: an older head, or one that takes a version back, is refused and the held one stays", async () => {
  const door = await openTrustingDoor();
  const later = NOW + MINUTE_MS;
  const head = headFrame(door.keys, { issuedAt: later, scopes: naming(5) });
  expect(await door.poll({ head, snapshots: [routeFrame(door.keys, 5)] })).toBeNull();
  const older = headFrame(door.keys, { issuedAt: later - 1, scopes: naming(5) });
  expect(await door.poll({ head: older })).toMatchObject({ code: "HEAD_ROLLBACK", subject: "head" });
  const back = headFrame(door.keys, { issuedAt: later + 1, scopes: naming(4) });
  expect(await door.poll({ head: back })).toMatchObject({ code: "HEAD_ROLLBACK" });
  expect(door.store().headIssuedAt()).toBe(at(later));
});

test("SNAP-17: a head of a key that is not believed, or past its minutes, is refused", async () => {
  const door = await openTrustingDoor();
  expect(await door.poll({ head: headFrame(door.keys, { signer: newSigner() }) })).toMatchObject({
    code: "HEAD_REFUSED",
  });
  const fresh = headFrame(door.keys, { issuedAt: NOW + 1 });
  door.world.now = NOW + 1 + LIMITS.headLifetimeMs;
  expect(await door.poll({ head: fresh })).toMatchObject({ code: "HEAD_STALE" });
});

test("SNAP-17: a head that names a newer version than the active one, still after another poll: SNAPSHOT_HELD_BACK", async () => {
  const door = await openTrustingDoor();
  const head = headFrame(door.keys, { issuedAt: NOW + 1, scopes: naming(6, "drop") });
  expect(await door.poll({ head, snapshots: [routeFrame(door.keys, 5)] })).toBeNull();
  expect(await door.poll()).toMatchObject({
    code: "SNAPSHOT_HELD_BACK",
    scope: "route_policy",
    field: "config_version",
    version: { epoch: 1, version: 6 },
  });
  expect(await door.poll()).toBeNull(); // told once
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 6, { content: routes("drop") })] })).toBeNull();
  expect(door.store().rejections()).toEqual([]);
});

test("SNAP-17: what was handed over and refused is not called held back", async () => {
  const door = await openTrustingDoor();
  const head = headFrame(door.keys, { issuedAt: NOW + 1, scopes: naming(6) });
  const foreign = routeFrame(door.keys, 6, { header: { roles: ["core_mesh"] } });
  expect(await door.poll({ head, snapshots: [foreign] })).toMatchObject({ code: "SNAPSHOT_SCOPE_EXCEEDED" });
  expect(await door.poll()).toBeNull();
  expect(door.store().rejections()).toMatchObject([{ code: "SNAPSHOT_SCOPE_EXCEEDED" }]);
});

test("SNAP-17: frozen past refresh_after is reported, until something newer comes", async () => {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [routeFrame(door.keys, 5)] });
  door.world.now = NOW + 12 * HOUR_MS;
  door.world.monotonic = 12 * HOUR_MS;
  await door.poll();
  expect(door.store().rejections()).toContainEqual(
    expect.objectContaining({ code: "SNAPSHOT_HELD_BACK", scope: "route_policy", field: "refresh_after" }),
  );
  const refreshed = {
    issued_at: at(door.world.now),
    expires_at: at(door.world.now + 24 * HOUR_MS),
    refresh_after: at(door.world.now + 12 * HOUR_MS),
  };
  await door.poll({ snapshots: [routeFrame(door.keys, 6, { header: refreshed })] });
  expect(
    door
      .store()
      .rejections()
      .map(({ scope }) => scope),
  ).not.toContain("route_policy");
});

test("SNAP-17: a snapshot past refresh_after is not held back by an absent control plane, and is so a minute after its return", async () => {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [routeFrame(door.keys, 5)] });
  const heldBack = (): string[] =>
    door
      .store()
      .rejections()
      .filter(({ code, scope }) => code === "SNAPSHOT_HELD_BACK" && scope === "route_policy")
      .map(({ field }) => field!);
  const passes = (ms: number): void => {
    door.world.now += ms;
    door.world.monotonic += ms;
  };
  passes(26 * HOUR_MS);
  await door.unanswered();
  expect(heldBack()).toEqual([]);
  await door.poll();
  passes(LIMITS.reconnectGraceMs - 1);
  await door.poll();
  expect(heldBack()).toEqual([]);
  await door.unanswered(); // the minute begins again
  await door.poll();
  passes(LIMITS.reconnectGraceMs - 1);
  await door.poll();
  expect(heldBack()).toEqual([]);
  passes(1);
  await door.poll();
  expect(heldBack()).toEqual(["refresh_after"]);
});

test("SNAP-10: a signing key that a head revokes signs nothing more, and what it signed is out of force", async () => {
  const door = await openTrustingDoor();
  const second = newSigner();
  const [online] = bundleOf(door.keys).online_keys;
  const both = bundleOf(door.keys, { online_keys: [online!, { ...online!, ...second.record }] });
  await door.poll({ snapshots: [bundleFrame(door.keys, { bundle: both, header: { config_version: 2 } })] });
  await door.poll({ snapshots: [routeFrame(door.keys, 5, { signer: second })] });
  expect(viaOf(door)).toBe("mesh");
  const revoked = [{ kind: "signing_key", id: second.record.key_id }] as const;
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 1, revoked: [...revoked] }) });
  expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual([undefined, 5]);
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 6, { signer: second })] })).toMatchObject({
    code: "SNAPSHOT_KEY_UNTRUSTED",
  });
  await door.restart();
  expect(viaOf(door)).toBeUndefined();
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 2 }) });
  expect(viaOf(door)).toBe("mesh");
});

test("SNAP-10: a role that a head revokes takes its snapshots out of force", async () => {
  const door = await openTrustingDoor();
  await door.poll({
    snapshots: [bootstrapFrame(door.keys, 1, ["egress_service", "thin"]), routeFrame(door.keys, 5)],
  });
  expect([viaOf(door), door.store().membership().roles]).toEqual(["mesh", ["egress_service", "thin"]]);
  const revoked = [{ kind: "role_assignment", id: "egress_service" }] as const;
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 1, revoked: [...revoked] }) });
  expect([viaOf(door), door.store().membership().roles]).toEqual([undefined, ["thin"]]);
});

test("SNAP-10: the control plane's own word that a node is revoked closes the gate, until a newer head reopens it", async () => {
  const door = await openTrustingDoor();
  await door.store().noteRefused();
  const asked = () => door.keeper().ask("continue_services");
  expect(asked()).toMatchObject({
    code: "AUTHORITY_REVOKED",
    reason: "this node is revoked (control-plane status)",
  });
  await door.restart();
  expect(asked()).toMatchObject({ code: "AUTHORITY_REVOKED" });
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 1 }) });
  expect(asked()).toEqual({ kind: "open" });
  const revoked = [{ kind: "node_identity", id: NODE }] as const;
  await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 2, revoked: [...revoked] }) });
  expect(asked()).toMatchObject({
    code: "AUTHORITY_REVOKED",
    reason: "this node is revoked (signed head)",
  });
});

test("SNAP-9: cut off, a node goes on within its policy: its time offline, though the clock is set back, and its expiry", async () => {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [policyFrame(door.keys, 1)] });
  const asked = () => {
    const gate = door.keeper().ask("report_status");
    return gate.kind === "open" ? "open" : gate.code;
  };
  await door.restart();
  expect(asked()).toBe("open");
  door.world.now = NOW + 10 * HOUR_MS + 1;
  expect(asked()).toBe("DEGRADED_TIME_OVER");
  door.world.now = NOW - HOUR_MS;
  expect(asked()).toBe("open");
  door.world.monotonic = 10 * HOUR_MS + 1;
  expect(asked()).toBe("DEGRADED_TIME_OVER");
});

test("SNAP-9: without a policy nothing but a restart goes on by itself, and a policy of an expired snapshot is none", async () => {
  const door = await openTrustingDoor();
  await door.restart();
  expect(door.keeper().ask("report_status")).toMatchObject({ code: "DEGRADED_NOT_ALLOWED" });
  expect(door.keeper().ask("continue_services")).toEqual({ kind: "open" });
  await door.poll({
    snapshots: [
      policyFrame(door.keys, 1, undefined, { expires_at: at(NOW + HOUR_MS), refresh_after: at(NOW) }),
    ],
  });
  await door.restart();
  expect(door.keeper().ask("report_status")).toEqual({ kind: "open" });
  door.world.now = NOW + HOUR_MS;
  expect(door.keeper().ask("report_status")).toMatchObject({ code: "DEGRADED_TIME_OVER" });
});

const newEpoch = (door: Door, header: { authority_epoch: number; config_version: number }) =>
  bundleFrame(door.keys, {
    bundle: bundleOf(door.keys, {
      recovery: { from_epoch: 1, reason: "versions_exhausted", opened_at: at(NOW) },
    }),
    header,
  });

test("SNAP-11: fast-forwarded to 2^53 - 1, a scope comes back by a new epoch that only root keys open", async () => {
  const door = await openTrustingDoor();
  await door.poll({
    snapshots: [routeFrame(door.keys, Number.MAX_SAFE_INTEGER, { content: routes("drop") })],
  });
  const again = { header: { authority_epoch: 2 }, content: routes("mesh") };
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 1, again)] })).toMatchObject({
    code: "SNAPSHOT_EPOCH_UNKNOWN",
  });
  const epoch = { authority_epoch: 2, config_version: 1 };
  expect(await door.poll({ snapshots: [newEpoch(door, epoch), routeFrame(door.keys, 1, again)] })).toBeNull();
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect([viaOf(door), door.store().versions().route_policy]).toEqual(["mesh", { epoch: 2, version: 1 }]);
  }
});

test("SNAP-11: scopes of two epochs never stand side by side, and a head of the old one counts no more", async () => {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [routeFrame(door.keys, 5), policyFrame(door.keys, 5)] });
  await door.poll({ snapshots: [newEpoch(door, { authority_epoch: 2, config_version: 1 })] });
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect([viaOf(door), door.store().policy(), door.store().isHeadFresh()]).toEqual([
      undefined,
      null,
      false,
    ]);
  }
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 6)] })).toMatchObject({
    code: "SNAPSHOT_EPOCH_STALE",
  });
  const next = { header: { authority_epoch: 2 } };
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 1, next)] })).toBeNull();
  expect([viaOf(door), door.store().policy()]).toEqual(["mesh", null]);
  expect(await door.poll({ head: headFrame(door.keys, { issuedAt: NOW + 1, epoch: 2 }) })).toBeNull();
  expect(door.store().isHeadFresh()).toBe(true);
});
