// Component after component, with a watch between them (ROLL-11).
import { expect, test } from "vitest";
import { LIMITS } from "../../../../src/core/limits.ts";
import { createGroupTable } from "../../../support/rollouts/group-table.ts";
import { FAILED, T0 } from "../../../support/rollouts/scenes.ts";
import { beatAll, componentSucceeds, reported, startedGroup } from "./scenes.ts";

test("ROLL-11: components run one after the other, and the group completes after the last", () => {
  const group = startedGroup();
  expect(group.statuses()).toEqual(["running", "pending", "pending"]);
  let now = T0;
  for (const index of [0, 1, 2]) {
    expect(group.group()).toMatchObject({ status: "running", currentComponent: index });
    now = componentSucceeds(group, index, now + 1);
  }
  expect(group.group()).toMatchObject({ status: "completed", why: null, gateUntil: null });
  expect(group.asked).toEqual(["start 0", "start 1", "start 2"]);
});

test("ROLL-11: nothing is asked of components before the start", () => {
  const group = createGroupTable({
    failurePolicy: "manual",
    components: [{ nodes: 1, batchSize: 1 }],
  });
  group.settle(T0);
  expect(group.asked).toEqual([]);
  expect(group.group().status).toBe("pending");
});

test("ROLL-11: the next component begins only when the watch over the one before it has passed", () => {
  const group = startedGroup();
  reported(group, 0, T0 + 1);
  expect(group.group()).toMatchObject({ gateUntil: T0 + 60_001, currentComponent: 0 });
  expect(group.wakeAt()).toBe(T0 + 60_001);
  group.settle(T0 + 60_000);
  expect(group.statuses()).toEqual(["completed", "pending", "pending"]);
  group.settle(T0 + 60_001); // no heartbeat near its end: it is waited for
  expect(group.statuses()[1]).toBe("pending");
  expect(group.wakeAt()).toBe(T0 + 60_001 + LIMITS.healthRecheckMs);
  beatAll(group.components[0]!, T0 + 60_500);
  group.settle(T0 + 60_501);
  expect(group.statuses()).toEqual(["completed", "running", "pending"]);
});

test("SNAP-17: a watch that a clock dated ahead ends within its own length after the correction", () => {
  const AHEAD_MS = 12 * 3_600_000;
  const group = startedGroup();
  reported(group, 0, T0 + 1 + AHEAD_MS);
  expect(group.group().gateUntil).toBe(T0 + 60_001 + AHEAD_MS);
  group.settle(T0 + 1);
  expect(group.group().gateUntil).toBe(T0 + 60_001);
  expect(group.wakeAt()).toBe(T0 + 60_001);
  beatAll(group.components[0]!, T0 + 60_001);
  group.settle(T0 + 60_001);
  expect(group.statuses()).toEqual(["completed", "running", "pending"]);
});

test.each([
  ["is critical", { applicationHealth: "critical" }],
  ["stalls", { syncStatus: "stalled" }],
  ["crashes again and again", { restarts: 3 }],
  ["is down", { nodeState: "down" }],
  ["runs something else", { runningFingerprint: null }],
] as const)("ROLL-11: a node that %s at the end of the watch fails the component", (_, facts) => {
  const group = startedGroup();
  reported(group, 0, T0 + 1);
  const table = group.components[0]!;
  beatAll(table, T0 + 60_001);
  table.heartbeat(table.nodes[1]!.nodeId, T0 + 60_001, facts);
  group.settle(T0 + 60_001);
  expect(group.group()).toMatchObject({
    status: "paused",
    failedComponent: 0,
    why: { code: "COMPONENT_FAILED" },
  });
  expect(group.group().why!.text).toMatch(/1 of its nodes are not well/);
  expect(group.statuses()).toEqual(["completed", "pending", "pending"]);
});

test("ROLL-11: a node that falls silent during the watch fails the component when its grace is over", () => {
  const group = startedGroup();
  reported(group, 0, T0 + 1);
  group.settle(T0 + 60_001 + LIMITS.healthHeartbeatGraceMs - 1);
  expect(group.group().status).toBe("running");
  group.settle(T0 + 60_001 + LIMITS.healthHeartbeatGraceMs);
  expect(group.group().status).toBe("paused");
});

test("ROLL-11: nodes that failed within the threshold are not watched: only those that succeeded are", () => {
  const part = { nodes: 2, batchSize: 2, healthWaitMs: 0, failureThreshold: 1 };
  const group = startedGroup({ components: [part, part] });
  const table = group.components[0]!;
  table.report(table.nodes[0]!.nodeId, T0 + 1, FAILED);
  reported(group, 0, T0 + 1);
  expect(group.statuses()[0]).toBe("completed");
  table.heartbeat(table.nodes[1]!.nodeId, T0 + 60_001);
  group.settle(T0 + 60_001);
  expect(group.statuses()[1]).toBe("running");
});

test("ROLL-11: a component that waits for a person makes its group wait, not fail", () => {
  for (const code of ["CANARY_APPROVAL", "INTENT_EXPIRED", "UNAVAILABLE_LIMIT"]) {
    const waiting = { nodes: 1, batchSize: 1, status: "paused", why: { code, text: "…" } } as const;
    const group = createGroupTable({
      failurePolicy: "rollback_all",
      status: "running",
      currentComponent: 0,
      components: [waiting, { nodes: 1, batchSize: 1 }],
    });
    group.settle(T0);
    expect(group.group()).toMatchObject({ status: "running", currentComponent: 0 });
    expect(group.asked).toEqual([]);
  }
});

test("ROLL-22: deciding again on what was decided changes nothing, at every stage", () => {
  const group = startedGroup();
  const quiet = (now: number) =>
    expect(group.advance(now)).toMatchObject({ componentSignals: [], events: [], appliedSignals: [] });
  quiet(T0);
  group.signal("pause");
  group.advance(T0 + 1);
  quiet(T0 + 1); // the component has not read it yet
  group.settle(T0 + 1);
  quiet(T0 + 2);
  reported(group, 0, T0 + 3);
  quiet(T0 + 3);
  beatAll(group.components[0]!, T0 + 60_003);
  group.settle(T0 + 60_003);
  quiet(T0 + 60_004);
  expect(group.group().status).toBe("paused");
});
