import fc from "fast-check";
import { expect, test } from "vitest";
import { createBatcher } from "../../../src/server/agents/batcher.ts";

const OPTIONS = { itemsMax: 100, lingerMs: 1, concurrentMax: 1 };

const refusal = (code: string): Error => Object.assign(new Error(`refused with ${code}`), { code });

/** Work that refuses every batch which holds one of these, as a statement does. */
function refusing(bad: ReadonlySet<number>, code = "22P05") {
  const batches: number[][] = [];
  const add = createBatcher<number, number>(async (items) => {
    batches.push([...items]);
    if (items.some((item) => bad.has(item))) throw refusal(code);
    return items.map((item) => item * 2);
  }, OPTIONS);
  return { add, batches };
}

const settled = async (add: (item: number) => Promise<number>, items: readonly number[]) =>
  Promise.all(items.map(async (item) => add(item).catch((error: Error) => error.message)));

test("of one batch, exactly the items that the database refuses fail, and the others get their own results", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc
        .integer({ min: 1, max: 60 })
        .chain((size) => fc.tuple(fc.constant(size), fc.uniqueArray(fc.nat(size - 1), { maxLength: 5 }))),
      async ([size, bad]) => {
        const { add } = refusing(new Set(bad));
        const results = await settled(
          add,
          Array.from({ length: size }, (_, at) => at),
        );
        expect(results).toEqual(results.map((_, at) => (bad.includes(at) ? "refused with 22P05" : at * 2)));
      },
    ),
    { numRuns: 50 },
  );
});

test("one bad item among a hundred costs a handful of statements, not one for each item", async () => {
  const { add, batches } = refusing(new Set([37]));
  await settled(
    add,
    Array.from({ length: 100 }, (_, at) => at),
  );
  expect(batches.length).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(100)));
});

test.each([
  ["a full disk", "53100"],
  ["too many connections", "53300"],
  ["a statement timeout", "57014"],
  ["a lock timeout", "55P03"],
  ["a deadlock", "40P01"],
  ["a lost connection", "CONNECTION_CLOSED"],
])("%s fails its batch without a second statement", async (_what, code) => {
  const { add, batches } = refusing(new Set([1]), code);
  expect(await settled(add, [0, 1, 2])).toEqual(Array(3).fill(`refused with ${code}`));
  expect(batches).toHaveLength(1);
});

test("a batch after one that failed is worked on", async () => {
  const { add } = refusing(new Set([1]), "53100");
  await settled(add, [1]);
  expect(await settled(add, [5])).toEqual([10]);
});
