// How many nodes of one label value may be away at once.
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import type { TableWish } from "../../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  advanceAll,
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

/** Two zones of three; a batch takes one node of each. */
const zones = (changes: Partial<TableWish> = {}) =>
  started({
    nodes: 6,
    batchSize: 2,
    healthWaitMs: 0,
    failureThreshold: 1,
    labelOf: (n) => (n % 2 === 0 ? "east" : "west"),
    maxUnavailable: { label: "zone", count: 1 },
    ...changes,
  });

function oneFails(table: RolloutTable, at: number): void {
  const [first, second] = atWork(table);
  table.report(first!, at, FAILED);
  table.report(second!, at, COMPLETED);
  for (const nodeId of [first!, second!]) table.heartbeat(nodeId, at);
  table.advance(at);
}

test("ROLL-12: within the limit batches follow one another", () => {
  const table = zones();
  for (const at of [1, 2, 3]) everyoneReports(table, T0 + at);
  expect(table.rollout().status).toBe("completed");
});

test("ROLL-12: a node that failed in this very step counts as away for the next batch of its value", () => {
  const table = zones();
  oneFails(table, T0 + 1);
  expect(table.rollout()).toMatchObject({
    status: "paused",
    currentBatch: 0,
    why: {
      code: "UNAVAILABLE_LIMIT",
      text: "At most 1 nodes with zone=east may be away. 1 are away, and the batch would take 1 more. Bring them back, then resume.",
    },
  });
});

test("ROLL-12: a resume looks again, and force does not look away", () => {
  const table = zones();
  oneFails(table, T0 + 1);
  for (const kind of ["resume", "force"] as const) {
    table.signal(kind);
    table.advance(T0 + 2);
    expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
  }
  table.signal("retry");
  advanceAll(table, T0 + 3);
  everyoneReports(table, T0 + 4);
  table.signal("resume");
  table.advance(T0 + 5);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test.each(["down", "failed", "degraded"] as const)(
  "ROLL-12: a node elsewhere that is %s counts, one in maintenance does not",
  (nodeState) => {
    const table = zones();
    const elsewhere = table.nodes[4]!;
    elsewhere.facts = { ...elsewhere.facts, nodeState };
    everyoneReports(table, T0 + 1);
    expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });

    const quiet = zones();
    quiet.nodes[4]!.facts = { ...quiet.nodes[4]!.facts, nodeState: "maintenance" };
    everyoneReports(quiet, T0 + 1);
    expect(quiet.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
  },
);

test("ROLL-12: nodes without the label are not limited, and neither are rollouts without a limit", () => {
  const unlabelled = zones({ labelOf: () => null });
  oneFails(unlabelled, T0 + 1);
  expect(unlabelled.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
  const unlimited = zones({ maxUnavailable: null });
  oneFails(unlimited, T0 + 1);
  expect(unlimited.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("ROLL-28: a node of the current batch whose other program is away counts", () => {
  const table = zones();
  table.nodes[0]!.elsewhere = "away";
  everyoneReports(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "paused", why: { code: "UNAVAILABLE_LIMIT" } });
  table.nodes[0]!.elsewhere = null;
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1, why: null });
});

test.each([
  ["of the current batch", 0],
  ["of a later batch", 4],
])("ROLL-28: a node %s that is in maintenance for another program is waited for without a pause", (_, at) => {
  const table = zones();
  table.nodes[at]!.elsewhere = "busy";
  everyoneReports(table, T0 + 1);
  expect(table.rollout()).toMatchObject({
    status: "running",
    currentBatch: 0,
    why: {
      code: "OTHERS_AT_WORK",
      text: expect.stringMatching(
        /^At most \d+ nodes with zone=\w+ may be away\. \d+ are away, .* \d+ more\. The rollout goes on by itself when they are back\.$/,
      ) as string,
    },
  });
  expect(table.wakeAt()).toBe(T0 + 1 + LIMITS.othersRecheckMs);
  expect(atWork(table)).toEqual([]);
  table.advance(T0 + 2);
  expect(table.rollout().currentBatch).toBe(0);
  table.nodes[at]!.elsewhere = null;
  table.advance(T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1, why: null });
});

test("ROLL-28: a node about to join is not counted a second time for another program's maintenance", () => {
  const table = zones();
  table.nodes[2]!.elsewhere = "busy";
  everyoneReports(table, T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1, why: null });
});

test.each(["pause", "cancel"] as const)("ROLL-28: a rollout that waits for others takes a %s", (kind) => {
  const table = zones();
  table.nodes[0]!.elsewhere = "busy";
  everyoneReports(table, T0 + 1);
  table.signal(kind);
  table.advance(T0 + 2);
  expect(table.rollout().status).toBe(kind === "pause" ? "paused" : "cancelled");
});

test("ROLL-28: retries in a paused rollout wait for another program's maintenance, and stay paused", () => {
  const table = zones({ failureThreshold: 0 });
  oneFails(table, T0 + 1);
  expect(table.rollout().status).toBe("paused");
  table.nodes[4]!.elsewhere = "busy";
  table.signal("retry");
  table.advance(T0 + 2);
  table.advance(T0 + 3);
  expect([table.rollout().status, atWork(table)]).toEqual(["paused", []]);
  expect(table.wakeAt()).toBe(T0 + 3 + LIMITS.othersRecheckMs);
  table.nodes[4]!.elsewhere = null;
  table.advance(T0 + 4);
  expect(atWork(table)).toHaveLength(1);
});
