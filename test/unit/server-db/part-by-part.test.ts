// Rows that are made and written part by part.

import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { partByPart } from "../../../src/server/db/pipelined.ts";

const double = (part: readonly number[]): number[] => part.map((row) => 2 * row);

test("each part is written before the next one is made, without waiting until it is stored", async () => {
  const said: string[] = [];
  const made = await partByPart(
    [1, 2, 3, 4, 5],
    2,
    (part) => {
      said.push(`make ${part.join()}`);
      return double(part);
    },
    async (part) => {
      said.push(`write ${part.join()}`);
      for (let turns = 0; turns < 5; turns++) await nextTurn();
      said.push(`stored ${part.join()}`);
    },
  );
  expect(made).toEqual([[2, 4], [6, 8], [10]]);
  expect(said.slice(0, 6)).toEqual(["make 1,2", "write 2,4", "make 3,4", "write 6,8", "make 5", "write 10"]);
  expect(said.slice(6).toSorted()).toEqual(["stored 10", "stored 2,4", "stored 6,8"]);
});

test("a write that fails while later parts are made fails the whole, when all of them have ended", async () => {
  const ended: number[] = [];
  const writing = partByPart([1, 2, 3], 1, double, async ([row]) => {
    if (row === 2) throw new Error("the database is gone");
    for (let turns = 0; turns < 5; turns++) await nextTurn();
    ended.push(row!);
  });
  await expect(writing).rejects.toThrow("the database is gone");
  expect(ended).toEqual([4, 6]);
});

test("a part that cannot be made fails the whole, when what was begun has ended", async () => {
  const ended: number[] = [];
  const making = partByPart(
    [1, 2],
    1,
    ([row]) => {
      if (row === 2) throw new Error("it cannot be signed");
      return row!;
    },
    async (row) => {
      for (let turns = 0; turns < 5; turns++) await nextTurn();
      ended.push(row);
    },
  );
  await expect(making).rejects.toThrow("it cannot be signed");
  expect(ended).toEqual([1]);
});
