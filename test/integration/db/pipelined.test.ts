/** Statements that are sent together are run in the order in which they stand, however each of them begins. */
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Database, Transaction } from "../../../src/server/db/database.ts";
import { pipelined } from "../../../src/server/db/pipelined.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";

let databases: TestDatabases;
let db: Database;
beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.empty());
  await db`create sequence turns`;
  await db`create table notes (text text not null)`;
});
beforeEach(() => db`truncate notes`);
afterAll(() => databases.stop());

const bare = (tx: Transaction) => tx<{ turn: number }[]>`select nextval('turns') as turn`;
const turnOf = async (tx: Transaction): Promise<number> => (await bare(tx))[0]!.turn;
const nested = (tx: Transaction) =>
  pipelined(
    () => turnOf(tx),
    () => bare(tx),
  );

test("USE-5: bare queries, functions that await and pipelines within pipelines keep their order", async () => {
  const turns = await db.begin((tx) =>
    pipelined(
      () => bare(tx),
      () => turnOf(tx),
      () => undefined,
      () => nested(tx),
      () => bare(tx),
      () => turnOf(tx),
    ),
  );
  const [[first], second, nothing, [third, [fourth]], [fifth], sixth] = turns;
  expect(nothing).toBeUndefined();
  const all = [first!.turn, second, third, fourth!.turn, fifth!.turn, sixth];
  expect(all).toEqual(all.map((_, at) => all[0]! + at));
});

test("USE-5: one that fails fails all of them, and nothing of the transaction is left", async () => {
  const failing = db.begin((tx) =>
    pipelined(
      () => tx`insert into notes values ('before')`,
      () => tx`insert into notes values (null)`,
      () => tx`insert into notes values ('after')`,
    ),
  );
  await expect(failing).rejects.toMatchObject({ code: "23502" });
  expect(await db`select * from notes`).toEqual([]);
});

test("USE-5: one that goes on after another has failed writes nothing once the transaction is over", async () => {
  const ending: { late?: unknown } = {};
  const failing = db.begin((tx) =>
    pipelined(
      async () => {
        await tx`insert into notes values ('early')`;
        await sleep(50);
        await tx`insert into notes values ('late')`.catch((error: unknown) => (ending.late = error));
      },
      () => tx`insert into notes values (null)`,
    ),
  );
  await expect(failing).rejects.toMatchObject({ code: "23502" });
  expect(ending.late).toMatchObject({ code: "25P02" }); // the transaction was there still, and refused it
  expect(await db`select * from notes`).toEqual([]);
});
