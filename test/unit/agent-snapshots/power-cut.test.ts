// Power is cut after each operation of a snapshot's way into force (SNAP-12): whatever the disk kept, the store opens
// with one whole verified snapshot per scope, and no version goes down.
import { expect, test } from "vitest";
import { openSnapshotStore, type SnapshotStore } from "../../../src/agent/snapshots/store.ts";
import { powerCutFileSystem, type Disk, type Moment } from "../../support/host/power-cut-file-system.ts";
import {
  bootstrapFrame,
  headFrame,
  routeFrame,
  routeIncrement,
  routes,
} from "../../support/snapshot-frames.ts";
import { at, bundleFrame, bundleOf, newKeys, NOW } from "../../support/trust.ts";
import { identityOf } from "../agent-authority/node.ts";

const keys = newKeys();
const identity = identityOf(keys);
const clock = { now: () => NOW, monotonic: () => 0 };
const connected = async () => ({ kind: "open" }) as const;
const open = (disk: Disk) => openSnapshotStore("/disk", identity, clock, powerCutFileSystem(disk));

/** What a machine finds that took all this in peace. */
async function before(): Promise<Disk> {
  const fs = powerCutFileSystem();
  const store = await openSnapshotStore("/disk", identity, clock, fs);
  await store.apply(bundleFrame(keys));
  await store.takeHead(headFrame(keys));
  await store.apply(bootstrapFrame(keys, 1, ["egress_service"]));
  await store.apply(routeFrame(keys, 4, { content: routes("egress") }));
  await store.apply(routeFrame(keys, 5, { content: routes("mesh") }));
  return fs.moments.at(-1)!.strict;
}

async function momentsOf(work: (store: SnapshotStore) => Promise<unknown>): Promise<Moment[]> {
  const fs = powerCutFileSystem(await before());
  const store = await openSnapshotStore("/disk", identity, clock, fs);
  const opened = fs.moments.length;
  await work(store);
  return fs.moments.slice(opened);
}

const stateOf = (store: SnapshotStore) => ({
  route: store.versions().route_policy?.version,
  via: (store.content("route_policy") as ReturnType<typeof routes> | null)?.routes[0]?.via,
  bundle: store.versions().trust_bundle?.version,
  bootstrap: store.versions().node_bootstrap?.version,
  resync: store.resync(),
});

type Take = (store: SnapshotStore) => Promise<unknown>;
const LATER = NOW + 60_000;
const OLD: ReturnType<typeof stateOf> = { route: 5, via: "mesh", bundle: 1, bootstrap: 1, resync: [] };

const CASES: readonly (readonly [what: string, take: Take, after: ReturnType<typeof stateOf>])[] = [
  [
    "a full snapshot",
    (store) => store.apply(routeFrame(keys, 6, { content: routes("drop") })),
    { ...OLD, route: 6, via: "drop" },
  ],
  [
    "an increment",
    (store) =>
      store.applyIncrement(
        routeIncrement(keys, { base: 5, next: 6, from: routes("mesh"), to: routes("drop") }),
      ),
    { ...OLD, route: 6, via: "drop" },
  ],
  [
    "a trust bundle",
    (store) => store.apply(bundleFrame(keys, { bundle: bundleOf(keys), header: { config_version: 2 } })),
    { ...OLD, bundle: 2 },
  ],
  [
    "a bootstrap with another role",
    (store) => store.apply(bootstrapFrame(keys, 2, ["egress_service", "ingress"]), connected),
    { ...OLD, bootstrap: 2 },
  ],
];

test.each(CASES)(
  "SNAP-12: power cut at any point of %s: the old one or the new one, whole",
  async (_, take, after) => {
    const moments = await momentsOf(take);
    expect(moments.length).toBeGreaterThan(12);
    const seen = new Set<string>();
    for (const disk of ["strict", "hasty"] as const) {
      let newest = "old";
      for (const moment of moments) {
        const store = await open(moment[disk]);
        const found = stateOf(store);
        const which = JSON.stringify(found) === JSON.stringify(OLD) ? "old" : "new";
        expect([moment.after, found]).toEqual([moment.after, which === "old" ? OLD : after]);
        if (newest === "new") expect([moment.after, which]).toEqual([moment.after, "new"]);
        newest = which;
        seen.add(which);
        // It goes on from there as if nothing had happened, and never back.
        await take(store);
        expect(stateOf(store)).toEqual(after);
        expect(await store.apply(routeFrame(keys, 4, { content: routes("egress") }))).toMatchObject({
          code: "SNAPSHOT_ROLLBACK",
        });
      }
      expect(newest).toBe("new");
    }
    expect([...seen].toSorted()).toEqual(["new", "old"]);
  },
);

test.each<[string, Take]>([
  ["a head is taken", (store) => store.takeHead(headFrame(keys, { issuedAt: LATER }))],
  ["a command raises the floor", (store) => store.raiseFloor(at(LATER))],
])("SNAP-17: power cut while %s: effective time never goes back", async (_, take) => {
  const moments = await momentsOf(take);
  const floors = new Set<number>();
  for (const disk of ["strict", "hasty"] as const) {
    let floor = 0;
    for (const moment of moments) {
      const { effective } = (await open(moment[disk])).time();
      expect(effective).toBeGreaterThanOrEqual(floor);
      floor = effective;
      floors.add(effective);
    }
  }
  expect([...floors].toSorted((a, b) => a - b)).toEqual([NOW, LATER]);
});

test("SNAP-12: power cut while a new node takes its first trust bundle: none, or that one", async () => {
  const fs = powerCutFileSystem();
  await (await openSnapshotStore("/disk", identity, clock, fs)).apply(bundleFrame(keys));
  const found = new Set<number | undefined>();
  for (const { strict, hasty } of fs.moments)
    for (const disk of [strict, hasty]) found.add(stateOf(await open(disk)).bundle);
  expect([...found]).toEqual([undefined, 1]);
});

test("a store that named its frame before it was synced would be caught by that test", async () => {
  const moments = await momentsOf(CASES[0]![1]);
  const [named, ...others] = moments.filter(({ after }) => after === "rename /disk/snapshots/state.json");
  expect(others).toEqual([]);
  const careless = new Map(named!.hasty);
  careless.delete("/disk/snapshots/frames/pending");
  careless.set("/disk/snapshots/frames/route_policy.1.6.frame", Buffer.alloc(0));
  expect(stateOf(await open(careless))).toEqual({ ...OLD, resync: ["route_policy"] });
});
