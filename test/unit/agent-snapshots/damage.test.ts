// What the disk does to a store, and how it comes back (SNAP-11, SNAP-12): the recovery order of the model.
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  bootstrapFrame,
  headFrame,
  routeFrame,
  routeIncrement,
  routes,
} from "../../support/snapshot-frames.ts";
import {
  at,
  bundleFrame,
  bundleOf,
  fingerprint,
  HOUR_MS,
  newKeys,
  newSigner,
  NOW,
} from "../../support/trust.ts";
import { openTrustingDoor, viaOf, type Door } from "./door.ts";

const inStore = (door: Door, name: string) => join(door.dataDir, "snapshots", name);
const frame = (door: Door, name: string) => inStore(door, join("frames", name));
async function damage(path: string): Promise<void> {
  const bytes = await readFile(path);
  bytes[bytes.length >> 1]! ^= 1;
  await writeFile(path, bytes);
}

async function withTwoVersions(): Promise<Door> {
  const door = await openTrustingDoor();
  await door.poll({ snapshots: [routeFrame(door.keys, 4, { content: routes("egress") })] });
  await door.poll({ snapshots: [routeFrame(door.keys, 5, { content: routes("mesh") })] });
  return door;
}

test("SNAP-11: a damaged active file falls back to the previous one, and exactly that version or a newer one may come", async () => {
  const door = await withTwoVersions();
  await damage(frame(door, "route_policy.1.5.frame"));
  await door.restart();
  expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual(["egress", 4]);
  expect(door.store().resync()).toEqual(["route_policy"]);
  const older = routeFrame(door.keys, 4, { content: routes("drop") });
  expect(await door.poll({ snapshots: [older] })).toMatchObject({ code: "SNAPSHOT_ROLLBACK" });
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 5)] })).toBeNull();
  expect([viaOf(door), door.store().resync()]).toEqual(["mesh", []]);
  await door.restart();
  expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual(["mesh", 5]);
  // What was damaged did not become the previous one: there is still something to fall back to.
  await damage(frame(door, "route_policy.1.5.frame"));
  await door.restart();
  expect(viaOf(door)).toBe("egress");
});

test("SNAP-11: without its bootstrap a node has no roles until one comes: the enrollment's do not come back", async () => {
  const door = await openTrustingDoor({ identity: { roles: ["egress_service", "thin"] } });
  await door.poll({
    snapshots: [bootstrapFrame(door.keys, 1, ["egress_service"]), routeFrame(door.keys, 1)],
  });
  await damage(frame(door, "node_bootstrap.1.1.frame"));
  await door.restart();
  expect([door.store().membership().roles, viaOf(door)]).toEqual([[], undefined]);
  expect(await door.poll({ snapshots: [bootstrapFrame(door.keys, 1, ["egress_service"])] })).toBeNull();
  expect([door.store().membership().roles, viaOf(door)]).toEqual([["egress_service"], "mesh"]);
});

test("SNAP-11: a previous one that has expired meanwhile is nothing to fall back to", async () => {
  const door = await openTrustingDoor();
  const soon = { expires_at: at(NOW + HOUR_MS), refresh_after: at(NOW + HOUR_MS) };
  await door.poll({ snapshots: [routeFrame(door.keys, 4, { header: soon })] });
  await door.poll({ snapshots: [routeFrame(door.keys, 5)] });
  await damage(frame(door, "route_policy.1.5.frame"));
  door.world.now = NOW + HOUR_MS;
  await door.restart();
  expect([viaOf(door), door.store().versions().route_policy]).toEqual([undefined, undefined]);
});

test("SNAP-11: what an increment led to is kept whole: damaged, it falls back and a full one repairs it", async () => {
  const door = await withTwoVersions();
  const step = { base: 5, next: 6, from: routes("mesh"), to: routes("drop") };
  await door.poll({ increments: [routeIncrement(door.keys, step)] });
  await damage(frame(door, "route_policy.1.6.frame"));
  await door.restart();
  expect([viaOf(door), door.store().resync()]).toEqual(["mesh", ["route_policy"]]);
  expect(await door.poll({ snapshots: [routeFrame(door.keys, 6, { content: routes("drop") })] })).toBeNull();
  expect([viaOf(door), door.store().resync()]).toEqual(["drop", []]);
});

test("SNAP-11: a damaged trust bundle falls back to the previous one; the roots it brought stay the ones believed", async () => {
  const door = await openTrustingDoor();
  const taken = { ...door.keys, roots: newKeys().roots };
  const rotation = bundleFrame(door.keys, {
    bundle: bundleOf(taken),
    header: { config_version: 2 },
    signers: [door.keys.roots[0], door.keys.roots[1], taken.roots[0], taken.roots[1]],
  });
  expect(await door.poll({ snapshots: [rotation] })).toBeNull();
  await damage(frame(door, "trust_bundle.1.2.frame"));
  await door.restart();
  expect([door.store().versions().trust_bundle?.version, door.store().resync()]).toEqual([
    1,
    ["trust_bundle"],
  ]);
  const byTheOld = bundleFrame(door.keys, { header: { config_version: 3 } });
  expect(await door.poll({ snapshots: [byTheOld] })).toMatchObject({ code: "SNAPSHOT_KEY_UNTRUSTED" });
  const byTheNew = bundleFrame(taken, { header: { config_version: 2 } });
  expect(await door.poll({ snapshots: [byTheNew] })).toBeNull();
  expect([door.store().versions().trust_bundle?.version, door.store().resync()]).toEqual([2, []]);
});

test("SNAP-12: one damaged copy of the state is no loss; with both the agent does not guess", async () => {
  const door = await withTwoVersions();
  for (const name of ["state.json", "state.copy.json"]) {
    const whole = await readFile(inStore(door, name), "utf8");
    for (const spoiled of ["{", whole.replaceAll('"version": 5', '"version": 3')]) {
      await writeFile(inStore(door, name), spoiled);
      await door.restart();
      expect(door.store().versions().route_policy).toEqual({ epoch: 1, version: 5 });
      await writeFile(inStore(door, name), whole);
    }
  }
  for (const name of ["state.json", "state.copy.json"]) await writeFile(inStore(door, name), "{");
  await expect(door.restart()).rejects.toMatchObject({ code: "INVALID_INPUT" });
});

test("SNAP-12: killed between durable write and pointer swap, the old one is active and the litter goes", async () => {
  const door = await withTwoVersions();
  await writeFile(
    frame(door, "route_policy.1.6.frame"),
    routeFrame(door.keys, 6, { content: routes("drop") }),
  );
  await door.restart();
  expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual(["mesh", 5]);
  expect(await readdir(inStore(door, "frames"))).not.toContain("route_policy.1.6.frame");
});

test("SNAP-12: a download that a crash left behind is verified and taken; a bad one goes", async () => {
  const door = await withTwoVersions();
  await writeFile(frame(door, "pending"), routeFrame(door.keys, 6, { content: routes("drop") }));
  await door.restart();
  expect([viaOf(door), door.store().versions().route_policy?.version]).toEqual(["drop", 6]);
  await writeFile(frame(door, "pending"), routeFrame(door.keys, 7, { signer: newSigner() }));
  await door.restart();
  expect(door.store().versions().route_policy?.version).toBe(6);
  expect(await readdir(inStore(door, "frames"))).not.toContain("pending");
});

test("SNAP-9: a download that a crash left behind brings neither new roles nor new roots", async () => {
  const door = await openTrustingDoor();
  await writeFile(frame(door, "pending"), bootstrapFrame(door.keys, 1, ["core_mesh"]));
  await door.restart();
  expect(door.store().membership().roles).toEqual(["egress_service"]);
  expect(door.store().rejections()).toContainEqual(
    expect.objectContaining({ scope: "node_bootstrap", code: "DEGRADED_FORBIDDEN" }),
  );
  expect(await door.poll({ snapshots: [bootstrapFrame(door.keys, 1, ["core_mesh"])] })).toBeNull();
  expect(door.store().membership().roles).toEqual(["core_mesh"]);
});

test("SNAP-12: state names the signers, hashes and deadlines of what is active, and keeps only two files per scope", async () => {
  const door = await withTwoVersions();
  await door.poll({ snapshots: [routeFrame(door.keys, 6, { content: routes("drop") })] });
  const { state } = JSON.parse(await readFile(inStore(door, "state.json"), "utf8")) as {
    state: { scopes: { route_policy: unknown } };
  };
  expect(state.scopes.route_policy).toMatchObject({
    accepted: { epoch: 1, version: 6 },
    active: {
      version: 6,
      signer_key_ids: [door.keys.online.record.key_id],
      expires_at: at(NOW + 24 * HOUR_MS),
    },
    previous: { version: 5 },
    resync: false,
  });
  const files = (await readdir(inStore(door, "frames"))).toSorted();
  expect(files).toEqual(["route_policy.1.5.frame", "route_policy.1.6.frame", "trust_bundle.1.1.frame"]);
});

test("SNAP-8: enrolled anew, a machine believes the root of its new token, and older versions are refused still", async () => {
  const door = await withTwoVersions();
  const taken = { ...door.keys, roots: newKeys().roots };
  await door.restart({ root: bundleOf(taken).root, token_digest: fingerprint("another token") });
  expect(await door.poll({ snapshots: [bundleFrame(taken, { header: { config_version: 2 } })] })).toBeNull();
  expect(door.store().bundle()?.root).toEqual(bundleOf(taken).root);
  expect(
    await door.poll({ head: headFrame(door.keys), snapshots: [routeFrame(door.keys, 4)] }),
  ).toMatchObject({
    code: "SNAPSHOT_ROLLBACK",
  });
});

test("SNAP-12: a file that vanished is a damaged file", async () => {
  const door = await withTwoVersions();
  await rm(frame(door, "route_policy.1.5.frame"));
  await door.restart();
  expect([viaOf(door), door.store().resync()]).toEqual(["egress", ["route_policy"]]);
});
