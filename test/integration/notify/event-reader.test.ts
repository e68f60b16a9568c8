// Readers of the events table: nothing is passed over, whoever commits when, and nothing is lost by a crash.

import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { StoredEvent } from "../../../src/core/notify/notifications.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { appendEvents } from "../../../src/server/events/append.ts";
import { readEvents, registerReader } from "../../../src/server/notify/event-reader.ts";
import { readNotifications, WEBHOOK_READER } from "../../../src/server/notify/notifier.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { until } from "../../support/programs/until.ts";
import { insertRollout } from "../../support/server/health-rows.ts";

let databases: TestDatabases;
let db: Database;

beforeAll(async () => {
  databases = await startTestDatabases();
});
beforeEach(async () => {
  ({ db } = await databases.fresh());
});
afterAll(() => databases.stop());

const append = (word: string, on: Database = db) =>
  on.begin((tx) => appendEvents(tx, [{ kind: "word", data: { word } }]));

async function read(rowsMax = 100): Promise<string[]> {
  const words: string[] = [];
  await readEvents(db, "test", rowsMax, async (_, events) => void words.push(...events.map(wordOf)));
  return words;
}
const wordOf = ({ data }: StoredEvent): string => String(data["word"]);

test("ROLL-19: a reader begins at the present, goes on page by page, and reads each event once", async () => {
  await append("past");
  await registerReader(db, "test");
  for (const word of ["a", "b", "c"]) await append(word);
  await registerReader(db, "test");
  expect(await read(2)).toEqual(["a", "b"]);
  expect(await read(2)).toEqual(["c"]);
  expect(await read(2)).toEqual([]);
});

test("ROLL-19: an event of a slow transaction is not passed over by those that come after it", async () => {
  await registerReader(db, "test");
  let finish = (): void => undefined;
  const mayFinish = new Promise<void>((done) => (finish = done));
  let isAppended = false;
  const slow = db.begin(async (tx) => {
    await appendEvents(tx, [{ kind: "word", data: { word: "slow" } }]);
    isAppended = true;
    await mayFinish;
  });
  await until("the slow one has its id", () => isAppended);
  const quick = append("quick");
  await until("the quick one waits for the slow one", async () => {
    const waiting = await db`select 1 from pg_locks where locktype = 'advisory' and not granted`;
    return waiting.length > 0;
  });
  expect(await read()).toEqual([]);
  finish();
  await Promise.all([slow, quick]);
  expect(await read()).toEqual(["slow", "quick"]);
});

test("ROLL-19: many writers at once leave no event behind the cursor", async () => {
  await registerReader(db, "test");
  const words = Array.from({ length: 60 }, (_, i) => `w${i}`);
  const seen: string[] = [];
  const writing = Promise.all(words.map((word) => append(word)));
  await until("all read", async () => {
    seen.push(...(await read(7)));
    return seen.length >= words.length;
  });
  await writing;
  expect(seen.toSorted()).toEqual(words.toSorted());
});

test("ROLL-19: what failed while it was dealt with is read again; two replicas never read at once", async () => {
  await registerReader(db, "test");
  await append("a");
  await expect(
    readEvents(db, "test", 10, async () => {
      throw new Error("crashed");
    }),
  ).rejects.toThrow("crashed");
  await readEvents(db, "test", 10, async (_, events) => {
    expect(events.map(wordOf)).toEqual(["a"]);
    expect(await readEvents(db, "test", 10, async () => undefined)).toBeNull();
  });
  expect(await read()).toEqual([]);
});

test("ROLL-19: deliveries move with the cursor: put back by a restore, it puts down nothing twice", async () => {
  await registerReader(db, WEBHOOK_READER);
  await db`
    insert into webhooks (id, name, url, sealed_secret, events, created_by)
    values (gen_random_uuid(), 'w', 'https://receiver.test/', '', '{rollout_started}', 'boss')`;
  const rollout_id = await insertRollout(db);
  await db.begin((tx) =>
    appendEvents(tx, [{ kind: "rollout.status", rollout_id, data: { from: "pending", to: "running" } }]),
  );
  const before = await db`select * from event_cursors`;
  expect(await readNotifications(db)).toBe(1);
  expect(await readNotifications(db)).toBe(0);
  await db`update event_cursors set event_id = ${before[0]!["event_id"] as number}`;
  expect(await readNotifications(db)).toBe(1);
  expect(await db`select id from webhook_deliveries`).toHaveLength(1);
});
