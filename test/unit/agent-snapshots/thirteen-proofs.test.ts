// The thirteen proofs of the snapshot model, through the agent's door: bytes in, a rejection out, and what was active
// before is active still.
import { expect, test } from "vitest";
import { CONNECTED_ACTIONS } from "../../../src/core/degraded/actions.ts";
import type { Json } from "../../../src/core/json.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { headFrame, routeFrame, routeIncrement, routes } from "../../support/snapshot-frames.ts";
import {
  at,
  bundleFrame,
  bundleOf,
  HOUR_MS,
  newKeys,
  newSigner,
  NOW,
  OTHER_NODE,
} from "../../support/trust.ts";
import { openTrustingDoor, viaOf, type Answer, type Door } from "./door.ts";

/** Version 5 is active. */
async function settled(): Promise<Door> {
  const door = await openTrustingDoor();
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 5)] })).toBeNull();
  return door;
}

/** Refused with that code, stored with its reason, reported; version 5 is active before and after a restart. */
async function expectRefused(door: Door, answer: Answer, code: string, step: number): Promise<void> {
  expect(await door.poll(answer)).toMatchObject({ code, step });
  expect(door.store().rejections()).toContainEqual(expect.objectContaining({ code, step }));
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect([moment, viaOf(door), door.store().versions().route_policy?.version]).toEqual([moment, "mesh", 5]);
  }
}

const next = (
  door: Door,
  header: { readonly [field: string]: Json },
  content: Json = routes("drop"),
): Answer => ({
  snapshots: [routeFrame(door.keys, 6, { header, content })],
});

test("SNAP-14: valid snapshot applies", async () => {
  const door = await settled();
  expect(await door.poll(next(door, {}))).toBeNull();
  expect([viaOf(door), door.store().versions().route_policy]).toEqual(["drop", { epoch: 1, version: 6 }]);
});

test("SNAP-14: invalid signature rejected", async () => {
  const door = await settled();
  const frame = routeFrame(door.keys, 6, { content: routes("drop") });
  const signature = frame.lastIndexOf('"signature":"') + 20;
  frame[signature] = frame[signature] === 0x41 ? 0x42 : 0x41;
  await expectRefused(door, { snapshots: [frame] }, "SNAPSHOT_SIGNATURE_INVALID", 5);
});

test("SNAP-14: wrong cluster rejected", async () => {
  const door = await settled();
  await expectRefused(door, next(door, { cluster_id: OTHER_NODE }), "SNAPSHOT_WRONG_CLUSTER", 2);
});

test("SNAP-14: wrong node rejected", async () => {
  const door = await settled();
  await expectRefused(door, next(door, { subject_node_id: OTHER_NODE }), "SNAPSHOT_WRONG_NODE", 3);
});

test("SNAP-14: expired snapshot rejected for new authority", async () => {
  const door = await settled();
  await expectRefused(
    door,
    next(door, { expires_at: at(NOW), refresh_after: at(NOW) }),
    "SNAPSHOT_TIME_REFUSED",
    7,
  );
});

test("SNAP-14: rollback rejected", async () => {
  const door = await settled();
  const older = { snapshots: [routeFrame(door.keys, 4, { content: routes("drop") })] };
  await expectRefused(door, older, "SNAPSHOT_ROLLBACK", 9);
});

test("SNAP-14: version gap triggers full resync", async () => {
  const door = await settled();
  const gap = routeIncrement(door.keys, { base: 6, next: 7, from: routes("egress"), to: routes("drop") });
  await expectRefused(door, { increments: [gap] }, "INCREMENT_BASE_MISMATCH", 9);
  expect(door.store().resync()).toEqual(["route_policy"]);
  const full = routeFrame(door.keys, 7, { content: routes("drop") });
  expect(await door.poll({ snapshots: [full] })).toBeNull();
  expect([viaOf(door), door.store().resync()]).toEqual(["drop", []]);
});

test("SNAP-14: forbidden raw secret content rejected", async () => {
  const door = await settled();
  const pem = Buffer.from("-----BEGIN PRIVATE KEY-----\nMC4CAQ\n-----END PRIVATE KEY-----").toString(
    "base64",
  );
  const [route] = routes("drop").routes;
  const content = { routes: [{ ...route!, description: pem }] };
  await expectRefused(door, next(door, {}, content), "SNAPSHOT_SECRET_FOUND", 12);
});

test("SNAP-14: unrelated organization data rejected", async () => {
  const door = await settled();
  const foreign = "66666666-6666-4666-8666-666666666666";
  const code = "SNAPSHOT_ORGANIZATION_FOREIGN";
  await expectRefused(door, next(door, { organization_ids: [foreign] }), code, 10);
  await expectRefused(door, next(door, {}, routes("drop", foreign)), code, 10);
});

test("SNAP-14: wrong role scope rejected", async () => {
  const door = await settled();
  await expectRefused(door, next(door, { roles: ["core_mesh"] }), "SNAPSHOT_SCOPE_EXCEEDED", 10);
  const peers = { peers: [] };
  const directory = next(door, { scope_type: "peer_directory" }, peers);
  await expectRefused(door, directory, "SNAPSHOT_SCOPE_EXCEEDED", 10);
});

test("SNAP-14: incremental update applies only to matching base version", async () => {
  const door = await settled();
  const step = { next: 6, from: routes("mesh"), to: routes("drop") };
  const wrongVersion = routeIncrement(door.keys, { ...step, base: 4 });
  await expectRefused(door, { increments: [wrongVersion] }, "INCREMENT_BASE_MISMATCH", 9);
  const wrongContent = routeIncrement(door.keys, { ...step, base: 5, from: routes("egress") });
  await expectRefused(door, { increments: [wrongContent] }, "INCREMENT_BASE_MISMATCH", 9);
  expect(await door.poll({ increments: [routeIncrement(door.keys, { ...step, base: 5 })] })).toBeNull();
  for (const moment of ["running", "restarted"]) {
    if (moment === "restarted") await door.restart();
    expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual(["drop", 6]);
  }
});

test("SNAP-14: revoked signer rejected", async () => {
  const door = await settled();
  const second = newSigner();
  const [online] = bundleOf(door.keys).online_keys;
  const both = bundleOf(door.keys, { online_keys: [online!, { ...online!, ...second.record }] });
  const revoking = bundleOf(door.keys, { revoked_keys: [second.record.key_id] });
  const bundle = (content: typeof both, config_version: number) =>
    bundleFrame(door.keys, { bundle: content, header: { config_version } });
  expect(await door.poll({ snapshots: [bundle(both, 2)] })).toBeNull();
  expect(await door.poll({ snapshots: [bundle(revoking, 3)] })).toBeNull();
  const signed = routeFrame(door.keys, 6, { content: routes("drop"), signer: second });
  await expectRefused(door, { snapshots: [signed] }, "SNAPSHOT_KEY_UNTRUSTED", 4);
});

test("SNAP-14: degraded-mode forbidden actions are blocked", async () => {
  const door = await settled();
  const asked = () => CONNECTED_ACTIONS.map((action) => door.keeper().ask(action));
  for (const gate of asked()) expect(gate).toEqual({ kind: "open" });
  door.world.monotonic += LIMITS.contactLostMs + 1;
  for (const gate of asked()) expect(gate).toMatchObject({ kind: "closed", code: "DEGRADED_FORBIDDEN" });
  // A bundle from somewhere else than the control plane brings no new root, though its roots signed it.
  const taken = { ...door.keys, roots: newKeys().roots };
  const rotation = bundleFrame(door.keys, {
    bundle: bundleOf(taken),
    header: { config_version: 2 },
    signers: [door.keys.roots[0], door.keys.roots[1], taken.roots[0], taken.roots[1]],
  });
  expect(await door.store().apply(rotation)).toMatchObject({ code: "DEGRADED_FORBIDDEN" });
  expect(door.store().bundle()?.root).toEqual(bundleOf(door.keys).root);
  // Contact alone is not enough: without a fresh head nobody knows what was revoked.
  door.world.now += HOUR_MS;
  await door.poll();
  expect(door.keeper().ask("create_service_authority")).toMatchObject({ kind: "closed", code: "HEAD_STALE" });
  await door.poll({ head: headFrame(door.keys, { issuedAt: door.world.now }) });
  expect(door.keeper().ask("create_service_authority")).toEqual({ kind: "open" });
});
