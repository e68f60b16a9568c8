// When a rollout wants to be looked at again, should nothing else happen.
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { createRolloutTable } from "../../support/rollouts/rollout-table.ts";
import { atWork, COMPLETED, everyoneReports, progress, started, T0 } from "../../support/rollouts/scenes.ts";

const UNHEARD = LIMITS.commandLifetimeMs + 60_000;
const AT_WORK = UNHEARD + LIMITS.scheduleToCloseMs + LIMITS.compensationBudgetMs;

test("a batch at work is looked at when its silence would be over", () => {
  const table = started({ nodes: 2, batchSize: 2 });
  const [first, second] = atWork(table);
  expect(table.wakeAt()).toBe(T0 + UNHEARD);
  table.report(first!, T0 + 5, COMPLETED);
  table.advance(T0 + 5);
  expect(table.wakeAt()).toBe(T0 + UNHEARD);
  table.report(second!, T0 + 6, progress(0));
  table.advance(T0 + 6);
  expect(table.wakeAt()).toBe(T0 + AT_WORK);
});

test("a health wait is looked at when it ends, then soon again while a heartbeat is missing", () => {
  const table = started({ nodes: 1, batchSize: 1 });
  table.report(atWork(table)[0]!, T0 + 5, COMPLETED);
  table.advance(T0 + 5);
  expect(table.wakeAt()).toBe(T0 + 60_005);
  table.advance(T0 + 60_005);
  expect(table.wakeAt()).toBe(T0 + 60_005 + LIMITS.healthRecheckMs);
});

test("a reverse has a silence of its own, counted from its launch", () => {
  const table = started({ nodes: 1, batchSize: 1, healthWaitMs: LIMITS.healthWaitMaxMs });
  everyoneReports(table, T0 + 5);
  const due = T0 + 5 + LIMITS.healthWaitMaxMs;
  table.heartbeat(atWork(table)[0]!, due, { nodeState: "failed" });
  table.advance(due);
  expect(table.nodes[0]!.direction).toBe("reverse");
  expect(table.wakeAt()).toBe(due + UNHEARD);
});

test.each(["pending", "paused", "completed", "failed", "cancelled"] as const)(
  "a %s rollout sleeps until someone calls",
  (status) => {
    const table = createRolloutTable({ nodes: 2, batchSize: 1, status });
    expect(table.advance(T0).wakeAt).toBeNull();
  },
);

test("a wake-up is never in the past", () => {
  const table = started({ nodes: 1, batchSize: 1 });
  table.nodes[0]!.phase = "VERIFYING";
  table.nodes[0]!.installedAt = T0;
  table.advance(T0 + 1);
  for (const now of [T0 + 1, T0 + 70_000, T0 + 100_000])
    expect(table.advance(now).wakeAt).toBeGreaterThan(now);
});
