import { createHmac } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { orderBySeed } from "../../../src/trust/order.ts";

const seed = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString("hex"));
const nodes = fc
  .uniqueArray(fc.uuid(), { minLength: 0, maxLength: 50 })
  .map((ids) => ids.map((id) => ({ id })));

test("the order holds every node once, and depends on the seed alone (ROLL-12)", () => {
  fc.assert(
    fc.property(nodes, seed, (given, chosen) => {
      const ordered = orderBySeed(given, chosen);
      expect(ordered.toSorted(byId)).toEqual(given.toSorted(byId));
      expect(orderBySeed(given.toReversed(), chosen)).toEqual(ordered);
    }),
  );
});

test("another seed gives another order, and a node's place among others cannot be bought by its neighbours", () => {
  const given = Array.from({ length: 40 }, (_, n) => ({ id: `node-${n}` }));
  const first = orderBySeed(given, "01".repeat(32)).map(({ id }) => id);
  expect(orderBySeed(given, "02".repeat(32)).map(({ id }) => id)).not.toEqual(first);
  const without = orderBySeed(given.slice(1), "01".repeat(32)).map(({ id }) => id);
  expect(without).toEqual(first.filter((id) => id !== "node-0"));
});

test("nodes are ordered by the HMAC-SHA256 of their id under the seed's bytes, lowest first", () => {
  const given = Array.from({ length: 40 }, (_, n) => ({ id: `node-${n}` }));
  const rank = ({ id }: { id: string }) => createHmac("sha256", Buffer.alloc(32, 0xa1)).update(id).digest();
  const expected = given.toSorted((a, b) => Buffer.compare(rank(a), rank(b)));
  expect(orderBySeed(given, "a1".repeat(32))).toEqual(expected);
});

const byId = (a: { id: string }, b: { id: string }): number => (a.id < b.id ? -1 : 1);
