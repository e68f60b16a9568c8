import fc from "fast-check";
import { expect, test } from "vitest";
import { cutBatches, type BatchPlan, type LabelledNode } from "../../../src/core/rollout/batches.ts";

const nodes = fc
  .array(fc.option(fc.constantFrom("a", "b", "c", "d"), { nil: undefined }), { maxLength: 60 })
  .map((zones) =>
    zones.map((zone, n): LabelledNode => ({ id: `n${n}`, labels: zone === undefined ? {} : { zone } })),
  );
const limit = fc.option(
  fc.integer({ min: 1, max: 4 }).map((count) => ({ label: "zone", count })),
  { nil: undefined },
);
const size = fc.integer({ min: 1, max: 20 });
const plan: fc.Arbitrary<BatchPlan> = fc.oneof(
  fc.record({ strategy: fc.constant("rolling" as const), batch_size: size, max_unavailable: limit }),
  fc.record({
    strategy: fc.constant("canary" as const),
    batch_size: size,
    canary_size: fc.option(fc.integer({ min: 1, max: 6 }), { nil: undefined }),
    max_unavailable: limit,
  }),
  fc.record({ strategy: fc.constant("all_at_once" as const), batch_size: size }),
);

const zoneOf = ({ id, labels }: LabelledNode): string => labels["zone"] ?? id;
const countBy = (batch: readonly LabelledNode[]): number[] =>
  [...Map.groupBy(batch, zoneOf).values()].map((of) => of.length);
const ids = (batches: readonly (readonly LabelledNode[])[]): string[][] =>
  batches.map((batch) => batch.map(({ id }) => id));

test("ROLL-12: every node is in exactly one batch, and no batch is empty", () => {
  fc.assert(
    fc.property(nodes, plan, (ordered, asked) => {
      const batches = cutBatches(ordered, asked);
      expect(ids(batches).flat().toSorted()).toEqual(ordered.map(({ id }) => id).toSorted());
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
    }),
  );
});

test("ROLL-12: no batch exceeds its size, nor the nodes of one label value that may be away", () => {
  fc.assert(
    fc.property(nodes, plan, (ordered, asked) => {
      for (const [at, batch] of cutBatches(ordered, asked).entries()) {
        const canary = asked.strategy === "canary" && at === 0;
        const most =
          asked.strategy === "all_at_once" ? Infinity : canary ? (asked.canary_size ?? 1) : asked.batch_size;
        expect(batch.length).toBeLessThanOrEqual(most);
        for (const count of countBy(batch))
          expect(count).toBeLessThanOrEqual(asked.max_unavailable?.count ?? Infinity);
      }
    }),
  );
});

test("ROLL-12: a rolling plan has no more batches than its size and its limit need", () => {
  fc.assert(
    fc.property(nodes, size, limit, (ordered, batch_size, max_unavailable) => {
      const most = max_unavailable === undefined ? 0 : Math.max(0, ...countBy(ordered));
      const needed = Math.max(
        Math.ceil(ordered.length / batch_size),
        Math.ceil(most / (max_unavailable?.count ?? 1)),
      );
      const batches = cutBatches(ordered, { strategy: "rolling", batch_size, max_unavailable });
      expect(batches).toHaveLength(needed);
    }),
  );
});

test("ROLL-12: the order of the nodes decides alone: the same order gives the same batches", () => {
  fc.assert(
    fc.property(nodes, plan, (ordered, asked) => {
      const twin = ordered.map((node) => ({ ...node, labels: { ...node.labels } }));
      expect(ids(cutBatches(twin, asked))).toEqual(ids(cutBatches(ordered, asked)));
      if (asked.max_unavailable !== undefined) return;
      expect(ids(cutBatches(ordered, asked)).flat()).toEqual(ordered.map(({ id }) => id));
    }),
  );
});

test("ROLL-12: the canary batch is the first nodes of the order; one too many of a zone stands back", () => {
  const three = ["a", "a", "b"].map((zone, n) => ({ id: `n${n}`, labels: { zone } }));
  const canary = { strategy: "canary", batch_size: 5, canary_size: 2 } as const;
  expect(ids(cutBatches(three, canary))).toEqual([["n0", "n1"], ["n2"]]);
  const limited = { ...canary, max_unavailable: { label: "zone", count: 1 } };
  expect(ids(cutBatches(three, limited))).toEqual([["n0", "n2"], ["n1"]]);
});

test("a label called __proto__ or constructor is a label like others", () => {
  const odd = [1, 2].map((n) => ({ id: `n${n}`, labels: {} }));
  const asked = { strategy: "rolling", batch_size: 5 } as const;
  for (const label of ["__proto__", "constructor"])
    expect(cutBatches(odd, { ...asked, max_unavailable: { label, count: 1 } })).toHaveLength(1);
});

test("a hundred thousand nodes are cut in an instant, whatever the limit", () => {
  const many = Array.from({ length: 100_000 }, (_, n) => ({ id: `n${n}`, labels: { zone: "one" } }));
  const limited = { label: "zone", count: 1 };
  expect(cutBatches(many, { strategy: "rolling", batch_size: 500, max_unavailable: limited })).toHaveLength(
    100_000,
  );
});
