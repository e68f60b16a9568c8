// What a step wrote is handed over from memory to whoever stands where this replica left it, and to nobody else.

import { beforeEach, expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { DeliveryQuery } from "../../../src/server/agents/deliveries.ts";
import { createParcels } from "../../../src/server/agents/parcels.ts";
import { createStandings } from "../../../src/server/agents/standings.ts";
import type { Parcel } from "../../../src/server/rollout/parcel.ts";

const NODE = NodeId.parse("00000000-0000-4000-8000-000000000001");
const NOW = 10 * LIMITS.headRefreshMs;
const HAVE = { node_bootstrap: { epoch: 1, version: 3 }, service_assignment: { epoch: 1, version: 7 } };
const QUERY: DeliveryQuery = {
  nodeId: NODE,
  have: HAVE,
  mark: 5,
  serials: {},
  headIssuedAt: NOW - 1_000,
  resync: [],
};
const bytes = (text: string) => new Uint8Array(Buffer.from(text));
const LAUNCH: Parcel = { epoch: 1, version: 8, sequence: 6, answer: bytes("launched") };
const SETTLED: Parcel = { epoch: 1, version: 9, sequence: null, answer: bytes("settled") };
const AFTER_LAUNCH = {
  ...QUERY,
  have: { ...HAVE, service_assignment: { epoch: 1, version: 8 } },
  mark: 6,
};

let [stamp, woken, now]: [number, number, number] = [1, 0, NOW];
const polls = {
  stamp: () => stamp,
  wake: () => {
    stamp += 1;
    woken += 1;
  },
};
let standings: ReturnType<typeof createStandings>;
let parcels: ReturnType<typeof createParcels>;
const deliver = (parcel: Parcel | null) => parcels.deliver(new Map([[NODE, parcel]]));

beforeEach(() => {
  [stamp, woken, now] = [1, 0, NOW];
  standings = createStandings(polls, () => now);
  parcels = createParcels(polls, standings, () => now);
  standings.looking(NODE)({ have: HAVE, mark: 5, headIssuedAt: NOW - 1_000 });
});

test("ROLL-11: who waits gets the assignment and the command of the step, and nothing twice", async () => {
  await deliver(LAUNCH);
  expect(woken).toBe(1);
  expect(parcels.take(QUERY)).toBe(LAUNCH.answer);
  expect(parcels.take(QUERY)).toBeNull();
});

test("who took it stands after it: it is not looked up again, and gets the next one from memory too", async () => {
  await deliver(LAUNCH);
  parcels.take(QUERY);
  expect(standings.isCurrent(AFTER_LAUNCH)).toBe(true);
  expect(standings.isCurrent(QUERY)).toBe(false);
  await deliver(SETTLED);
  expect(parcels.take(AFTER_LAUNCH)).toBe(SETTLED.answer);
});

test("who did not get the answer still says what it has, and is looked up", async () => {
  await deliver(LAUNCH);
  parcels.take(QUERY);
  await deliver(SETTLED);
  expect(parcels.take(QUERY)).toBeNull();
});

test.each<[string, Partial<DeliveryQuery>]>([
  ["has an older version than it was left with", { have: { node_bootstrap: HAVE.node_bootstrap } }],
  ["has not taken the last command", { mark: 4 }],
  ["asks for a scope whole", { resync: ["service_assignment"] }],
  ["has no head", { headIssuedAt: null }],
  ["has not got the head that it was handed", { headIssuedAt: NOW - 2_000 }],
])("SNAP-16: a node that %s is looked up", async (_what, change) => {
  await deliver(LAUNCH);
  expect(parcels.take({ ...QUERY, ...change })).toBeNull();
});

test("SNAP-17: a node with an old head is looked up, and so gets a new one beside its command", async () => {
  const headIssuedAt = NOW - 2 * LIMITS.headRefreshMs;
  standings.looking(NODE)({ have: HAVE, mark: 5, headIssuedAt });
  await deliver(LAUNCH);
  expect(parcels.take({ ...QUERY, headIssuedAt })).toBeNull();
});

test("SNAP-10: of whom something else was told, before the step or after it, is looked up", async () => {
  polls.wake(); // a revocation, say
  await deliver(LAUNCH);
  expect(parcels.take(QUERY)).toBeNull();
  standings.looking(NODE)({ have: HAVE, mark: 5, headIssuedAt: NOW - 1_000 });
  await deliver(LAUNCH);
  polls.wake();
  expect(parcels.take(QUERY)).toBeNull();
});

test("two parcels of which none was taken are looked up together", async () => {
  await deliver(LAUNCH);
  await deliver(SETTLED);
  expect(parcels.take(QUERY)).toBeNull();
});

test("a node that this replica does not know, or for which there is no parcel, is woken all the same", async () => {
  await deliver(null);
  expect([woken, parcels.take(QUERY)]).toEqual([1, null]);
  const stranger = NodeId.parse("00000000-0000-4000-8000-000000000002");
  await parcels.deliver(new Map([[stranger, LAUNCH]]));
  expect([woken, parcels.take({ ...QUERY, nodeId: stranger })]).toEqual([2, null]);
});

test("ROLL-28: a command that is not the next one of its node is looked up with those before it", async () => {
  // Another replica has just launched another program there: its word is still on the way.
  await deliver({ ...LAUNCH, version: 9, sequence: 7 });
  expect([woken, parcels.take(QUERY)]).toEqual([1, null]);
});

test.each<[string, Parcel]>([
  ["the assignment", { ...LAUNCH, version: 7 }],
  ["the command", { ...LAUNCH, sequence: 5 }],
])("a node that was looked up before the parcel came has %s already", async (_what, parcel) => {
  await deliver(parcel);
  expect([woken, parcels.take(QUERY)]).toEqual([1, null]);
});

test("a parcel that nobody came for is let go when the next step comes, one that is young is not", async () => {
  const other = NodeId.parse("00000000-0000-4000-8000-000000000002");
  const one = { stamp: () => 1, wake: () => undefined };
  const kept = createParcels(one, createStandingsOf(one), () => now);
  await kept.deliver(new Map([[NODE, LAUNCH]]));
  now += LIMITS.pollWaitMaxMs;
  await kept.deliver(new Map([[other, LAUNCH]]));
  now += LIMITS.pollWaitMaxMs;
  await kept.deliver(new Map());
  expect(kept.take(QUERY)).toBeNull();
  expect(kept.take({ ...QUERY, nodeId: other })).toBe(LAUNCH.answer);
});

function createStandingsOf(one: Pick<typeof polls, "stamp">): typeof standings {
  const every = createStandings(one, () => now);
  const standing = { have: HAVE, mark: 5, headIssuedAt: NOW - 1_000 };
  return { ...every, of: () => standing };
}
