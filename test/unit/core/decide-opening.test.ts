/** A batch that is larger than what one step launches. */
import { expect, test } from "vitest";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  goesBackWell,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const times = (count: number, status: string): string[] => Array.from({ length: count }, () => status);

const LARGE = { nodes: 7, batchSize: 5, launchesPerStep: 2 };

test("ROLL-12: a large batch is launched over several steps, each at once after the other", () => {
  const table = started(LARGE);
  expect([atWork(table).length, table.wakeAt()]).toEqual([2, T0 + 1]);
  table.advance(T0 + 1);
  expect([atWork(table).length, table.wakeAt()]).toEqual([4, T0 + 2]);
  table.advance(T0 + 2);
  expect(atWork(table).length).toBe(5);
  expect(table.wakeAt()).toBeGreaterThan(T0 + 1000);
  expect(table.events.filter(({ kind }) => kind === "rollout.batch")).toHaveLength(1);
  expect(table.advance(T0 + 3)).toMatchObject({ launchBatch: null, launches: [], nodes: [], events: [] });
});

test("ROLL-15: nodes that are done are observed with those that were launched last", () => {
  const table = started({ ...LARGE, healthWaitMs: 0 });
  everyoneReports(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ currentBatch: 0, healthUntil: null });
  everyoneReports(table, T0 + 2);
  expect(table.statuses().filter((status) => status === "in_progress")).toHaveLength(5);
  everyoneReports(table, T0 + 3);
  expect(table.rollout().currentBatch).toBe(1);
  expect(table.statuses().slice(0, 5)).toEqual(times(5, "succeeded"));
});

test("ROLL-11: a pause keeps the rest of a batch that is being launched, and a resume goes on with it", () => {
  const table = started(LARGE);
  table.signal("pause");
  table.advance(T0 + 1);
  expect(atWork(table)).toHaveLength(2);
  const due = batchSucceeds(table, T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "paused", currentBatch: 0 });
  expect(table.statuses().slice(0, 5)).toEqual(["succeeded", "succeeded", "pending", "pending", "pending"]);
  table.signal("resume");
  table.advance(due + 1);
  table.advance(due + 2);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 0 });
  expect(atWork(table)).toHaveLength(3);
});

test("ROLL-11: a cancel lets those at work finish and leaves out the rest of the batch", () => {
  const table = started(LARGE);
  table.signal("cancel");
  table.advance(T0 + 1);
  batchSucceeds(table, T0 + 2);
  expect(table.rollout().status).toBe("cancelled");
  expect(table.statuses()).toEqual([...times(2, "succeeded"), ...times(5, "skipped")]);
});

test("ROLL-14: a rollback takes back those that were launched and leaves out the rest", () => {
  const table = started(LARGE);
  table.signal("rollback");
  table.advance(T0 + 1);
  const due = batchSucceeds(table, T0 + 2);
  expect(table.rollout().status).toBe("rolling_back");
  goesBackWell(table, due + 1);
  expect(table.statuses()).toEqual([...times(2, "rolled_back"), ...times(5, "skipped")]);
});

test("ROLL-11: a node that waits in the batch at work can be skipped", () => {
  const table = started(LARGE);
  table.signal("skip", null, table.nodes[4]!.nodeId);
  table.advance(T0 + 1);
  table.advance(T0 + 2);
  expect(table.statuses().slice(0, 5)).toEqual([...times(4, "in_progress"), "skipped"]);
});

test("ROLL-12: failures of the first are looked at when the rest is launched and done", () => {
  const table = started({ ...LARGE, healthWaitMs: 0 });
  everyoneReports(table, T0 + 1, FAILED);
  everyoneReports(table, T0 + 2, COMPLETED);
  everyoneReports(table, T0 + 3, COMPLETED);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "THRESHOLD_EXCEEDED" } });
  expect(table.commands).toHaveLength(5);
});

test("a window that closes keeps the rest of the batch", () => {
  const table = started({ ...LARGE, intentNotAfter: T0 + 1 });
  table.advance(T0 + 1);
  expect(atWork(table)).toHaveLength(2);
});

/** All of it stands on the target, and the first step back has been made. */
function goingBack(wish: Partial<Parameters<typeof started>[0]> = {}) {
  const table = started({ ...LARGE, nodes: 7, healthWaitMs: 0, ...wish });
  for (let at = T0 + 1; table.rollout().status === "running"; at += 1) everyoneReports(table, at);
  expect(table.statuses()).toEqual(times(7, "succeeded"));
  table.signal("rollback");
  table.advance(T0 + 100);
  return table;
}

test("ROLL-14: a large batch goes back over several steps, and the one before it waits until it is done", () => {
  const table = goingBack();
  expect([table.rollout().currentBatch, atWork(table).length]).toEqual([1, 2]);
  everyoneReports(table, T0 + 101);
  expect([table.rollout().currentBatch, atWork(table).length, table.wakeAt()]).toEqual([0, 2, T0 + 102]);
  table.advance(T0 + 102);
  expect([atWork(table).length, table.wakeAt()]).toEqual([4, T0 + 103]);
  table.advance(T0 + 103);
  expect(atWork(table).length).toBe(5);
  const opened = table.events.filter((event) => event.kind === "rollout.batch");
  expect(opened.filter(({ direction }) => direction === "reverse").map(({ batch }) => batch)).toEqual([1, 0]);
  everyoneReports(table, T0 + 104);
  expect(table.rollout().status).toBe("rolled_back");
  expect(table.statuses()).toEqual(times(7, "rolled_back"));
});

test("ROLL-14: with a node of a later batch still on its way back, no node of an earlier one begins", () => {
  const table = goingBack();
  const [first] = atWork(table);
  table.report(first!, T0 + 101, COMPLETED);
  table.heartbeat(first!, T0 + 101);
  table.advance(T0 + 101);
  table.advance(T0 + 102);
  expect([table.rollout().currentBatch, atWork(table).length]).toEqual([1, 1]);
});

test("ROLL-14: a window that closes keeps the rest of a batch that goes back", () => {
  const table = goingBack({ intentNotAfter: T0 + 102 });
  everyoneReports(table, T0 + 101);
  expect([table.rollout().currentBatch, atWork(table).length]).toEqual([0, 2]);
  table.advance(T0 + 102);
  expect([atWork(table).length, table.rollout().why]).toMatchObject([2, { code: "INTENT_EXPIRED" }]);
});
