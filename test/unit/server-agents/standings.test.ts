// A node that stands where it was left, and that nobody was told of, is not looked up again.

import { expect, test } from "vitest";
import { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { DeliveryQuery } from "../../../src/server/agents/deliveries.ts";
import { createStandings, type Standing } from "../../../src/server/agents/standings.ts";

const NODE = NodeId.parse("00000000-0000-4000-8000-000000000001");
const NOW = 1_000_000;
const HAVE = { node_bootstrap: { epoch: 1, version: 3 }, service_assignment: { epoch: 1, version: 7 } };
const QUERY: DeliveryQuery = {
  nodeId: NODE,
  have: HAVE,
  mark: 5,
  serials: {},
  headIssuedAt: NOW - 1_000,
  resync: [],
};

const STANDS: Standing = { have: HAVE, mark: 5, headIssuedAt: NOW - 1_000 };

function looked(standing: Standing | null = STANDS) {
  let stamp = 1;
  const standings = createStandings({ stamp: () => stamp }, () => NOW);
  const note = standings.looking(NODE);
  return {
    standings,
    note: () => note(standing),
    wake: () => void (stamp += 1),
  };
}

test("a node that was never looked up is looked up", () => {
  expect(looked().standings.isCurrent(QUERY)).toBe(false);
});

test("a node that stands where it was left is not looked up again", () => {
  const { standings, note } = looked();
  note();
  expect(standings.isCurrent(QUERY)).toBe(true);
});

test.each<[string, Partial<DeliveryQuery>]>([
  ["has an older version", { have: { ...HAVE, service_assignment: { epoch: 1, version: 6 } } }],
  ["is in another epoch", { have: { ...HAVE, service_assignment: { epoch: 2, version: 7 } } }],
  ["lost a scope", { have: { node_bootstrap: HAVE.node_bootstrap } }],
  ["has a scope more", { have: { ...HAVE, route_policy: { epoch: 1, version: 1 } } }],
  ["has not taken the last command", { mark: 4 }],
  ["asks for a scope whole", { resync: ["route_policy"] }],
  ["has no head", { headIssuedAt: null }],
  ["has an old head", { headIssuedAt: NOW - LIMITS.headRefreshMs }],
  ["has not got the head that it was handed", { headIssuedAt: NOW - 2_000 }],
])("a node that %s is looked up", (_what, change) => {
  const { standings, note } = looked();
  note();
  expect(standings.isCurrent({ ...QUERY, ...change })).toBe(false);
});

test("a node that was woken is looked up, also when that was while it was looked up", () => {
  const after = looked();
  after.note();
  after.wake();
  expect(after.standings.isCurrent(QUERY)).toBe(false);
  const meanwhile = looked();
  meanwhile.wake();
  meanwhile.note();
  expect(meanwhile.standings.isCurrent(QUERY)).toBe(false);
});

test("a look that cannot tell where the node will stand leaves nothing behind", () => {
  const { standings, note } = looked(null);
  note();
  expect(standings.isCurrent(QUERY)).toBe(false);
});
