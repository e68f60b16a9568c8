// An absence of the control plane: no node fails for a verdict or a heartbeat that could not be stored.
import { describe, expect, test } from "vitest";
import { availableSince } from "../../../src/core/health/watch.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { createGroupTable } from "../../support/rollouts/group-table.ts";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  progress,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const HOUR_MS = 3_600_000;
const BACK = T0 + 5 * HOUR_MS;
const GRACE = LIMITS.reconnectGraceMs;

describe("ROLL-29: after the control plane was away for hours", () => {
  test.each([
    ["never heard of", []],
    ["heard of", [progress(0)]],
  ])("a node %s fails only when it had the time to reconnect", (_, reports) => {
    const table = started({ nodes: 1, batchSize: 1 });
    const [node] = atWork(table);
    for (const body of reports) table.report(node!, T0 + 1, body);
    table.advance(T0 + 1);
    table.cameBack(BACK);
    for (const now of [BACK, BACK + GRACE - 1]) {
      table.advance(now);
      expect(table.statuses()).toEqual(["in_progress"]);
      expect(table.wakeAt()).toBe(BACK + GRACE);
    }
    table.advance(BACK + GRACE);
    expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: "TIMEOUT" });
  });

  test("a verdict that waited on the node settles it", () => {
    const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
    table.cameBack(BACK);
    table.advance(BACK);
    everyoneReports(table, BACK + 1, COMPLETED);
    expect(table.statuses()).toEqual(["succeeded"]);
  });

  test("a health wait that ended meanwhile waits for the heartbeats of reconnected agents", () => {
    const table = started({ nodes: 1, batchSize: 1 });
    const [node] = atWork(table);
    table.report(node!, T0 + 1, COMPLETED);
    table.advance(T0 + 1);
    table.cameBack(BACK);
    table.advance(BACK + GRACE - 1);
    expect(table.statuses()).toEqual(["in_progress"]);
    table.heartbeat(node!, BACK + GRACE - 1);
    table.advance(BACK + GRACE - 1);
    expect(table.statuses()).toEqual(["succeeded"]);
  });

  test("a node that stays silent after it is unhealthy", () => {
    const table = started({ nodes: 1, batchSize: 1 });
    table.report(atWork(table)[0]!, T0 + 1, COMPLETED);
    table.advance(T0 + 1);
    table.cameBack(BACK);
    table.advance(BACK + GRACE);
    expect(table.nodes[0]).toMatchObject({ direction: "reverse", errorCode: "HEALTH_NO_HEARTBEAT" });
  });

  test("a group's gate waits for the heartbeats of reconnected agents", () => {
    const component = { nodes: 1, batchSize: 1, healthWaitMs: 0 };
    const group = createGroupTable({ failurePolicy: "manual", components: [component, component] });
    group.signal("start");
    group.settle(T0);
    batchSucceeds(group.components[0]!, T0 + 1);
    group.settle(T0 + 2);
    group.cameBack(BACK);
    group.settle(BACK + GRACE - 1);
    expect(group.group()).toMatchObject({ status: "running", currentComponent: 0 });
    group.settle(BACK + GRACE);
    expect(group.group()).toMatchObject({ status: "paused", why: { code: "COMPONENT_FAILED" } });
  });
});

test.each([
  ["never looked", null, T0],
  ["looked a gap ago", { lastLookAt: T0 - LIMITS.healthGapMs - 1, hearingSince: T0 - HOUR_MS }, T0],
  ["looks all the time", { lastLookAt: T0 - LIMITS.healthGapMs, hearingSince: T0 - HOUR_MS }, T0 - HOUR_MS],
])("ROLL-29: a control plane that %s knows since when it is available", (_, watch, since) => {
  expect(availableSince(watch, T0)).toBe(since);
});
