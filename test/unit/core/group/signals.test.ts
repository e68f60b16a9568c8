// Pause, resume and cancel of a group (ROLL-11), at any instant.
import { expect, test } from "vitest";
import { GROUP_SIGNALS } from "../../../../src/core/group/states.ts";
import { createGroupTable } from "../../../support/rollouts/group-table.ts";
import { FAILED, T0 } from "../../../support/rollouts/scenes.ts";
import { beatAll, componentSucceeds, reported, startedGroup } from "./scenes.ts";

const TWO_BATCHES = { nodes: 4, batchSize: 2, healthWaitMs: 0 };

test("ROLL-11: a pause goes to the running component and takes effect at its batch boundary", () => {
  const group = startedGroup({ components: [TWO_BATCHES, TWO_BATCHES] });
  group.signal("pause", "lunch");
  group.settle(T0 + 1);
  expect(group.group()).toMatchObject({ status: "running", pauseRequested: true });
  expect(group.components[0]!.rollout()).toMatchObject({ status: "running", pauseRequested: true });
  reported(group, 0, T0 + 2);
  expect(group.statuses()).toEqual(["paused", "pending"]);
  expect(group.group()).toMatchObject({ status: "paused", why: { code: "PAUSED" }, pauseRequested: false });
  group.signal("resume");
  group.settle(T0 + 3);
  expect(group.statuses()).toEqual(["running", "pending"]);
  expect(group.group().status).toBe("running");
});

test("ROLL-11: a pause during the watch holds the next component back, and the watch ends first", () => {
  const group = startedGroup();
  reported(group, 0, T0 + 1);
  group.signal("pause");
  group.settle(T0 + 2);
  expect(group.group()).toMatchObject({ status: "running", pauseRequested: true });
  beatAll(group.components[0]!, T0 + 60_001);
  group.settle(T0 + 60_001);
  expect(group.group()).toMatchObject({ status: "paused", currentComponent: 1 });
  expect(group.statuses()[1]).toBe("pending");
  group.signal("resume");
  group.settle(T0 + 60_002);
  expect(group.statuses()[1]).toBe("running");
});

test("ROLL-11: a pause that is taken back before it takes effect leaves nothing behind", () => {
  const group = startedGroup({ components: [TWO_BATCHES, TWO_BATCHES] });
  group.signal("pause");
  group.settle(T0 + 1);
  group.signal("resume");
  group.settle(T0 + 2);
  expect(group.group()).toMatchObject({ status: "running", pauseRequested: false, why: null });
  expect(group.components[0]!.rollout().pauseRequested).toBe(false);
  reported(group, 0, T0 + 3);
  expect(group.components[0]!.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
});

test("ROLL-11: a cancel lets nodes at work finish; what is complete stays, what never began is called off", () => {
  const group = startedGroup();
  const now = componentSucceeds(group, 0, T0 + 1) + 1;
  group.signal("cancel");
  group.settle(now);
  expect(group.group()).toMatchObject({ status: "running", cancelRequested: true });
  expect(group.statuses()).toEqual(["completed", "running", "cancelled"]);
  reported(group, 1, now + 1);
  expect(group.statuses()).toEqual(["completed", "cancelled", "cancelled"]);
  expect(group.group()).toMatchObject({
    status: "cancelled",
    cancelRequested: false,
    why: { code: "CANCELLED" },
  });
});

test("ROLL-11: a group that was never started is cancelled with all its components", () => {
  const group = createGroupTable({ failurePolicy: "manual", components: [TWO_BATCHES, TWO_BATCHES] });
  group.signal("cancel");
  group.settle(T0);
  expect(group.statuses()).toEqual(["cancelled", "cancelled"]);
  expect(group.group().status).toBe("cancelled");
});

test("ROLL-11: of two signals at once the second finds what the first has left", () => {
  const group = startedGroup();
  for (const kind of ["cancel", "pause", "cancel"] as const) group.signal(kind);
  group.settle(T0 + 1);
  expect(group.consumed.slice(1).map(({ kind, applied }) => `${kind} ${applied}`)).toEqual([
    "cancel true",
    "pause false",
    "cancel false",
  ]);
});

test("ROLL-14: a rollback of a running group lets nodes at work finish and takes them back too", () => {
  const group = startedGroup();
  group.signal("rollback");
  group.settle(T0 + 1);
  expect(group.group().status).toBe("rolling_back");
  expect(group.components[0]!.rollout()).toMatchObject({ status: "running", rollbackRequested: true });
  reported(group, 0, T0 + 2);
  expect(group.statuses()).toEqual(["rolling_back", "cancelled", "cancelled"]);
  reported(group, 0, T0 + 3);
  expect(group.statuses()[0]).toBe("rolled_back");
  expect(group.group().status).toBe("rolled_back");
});

test("ROLL-14: a rollback after a cancel that is under way wins", () => {
  const group = startedGroup();
  group.signal("cancel");
  group.settle(T0 + 1);
  group.signal("rollback");
  group.settle(T0 + 2);
  reported(group, 0, T0 + 3);
  expect(group.group()).toMatchObject({ status: "rolling_back", cancelRequested: false });
  reported(group, 0, T0 + 4);
  expect(group.group().status).toBe("rolled_back");
});

test.each(GROUP_SIGNALS)(
  "ROLL-11: %s on a group that was rolled back is recorded and changes nothing",
  (kind) => {
    const group = startedGroup({ failurePolicy: "rollback_all" });
    reported(group, 0, T0 + 1, FAILED);
    expect(group.group().status).toBe("rolled_back");
    const before = group.group();
    group.signal(kind);
    group.settle(T0 + 2);
    expect(group.group()).toEqual(before);
    expect(group.consumed.at(-1)).toMatchObject({ kind, applied: false });
  },
);

test("ROLL-13: skip is for a failed component only", () => {
  const group = startedGroup({ components: [TWO_BATCHES, TWO_BATCHES] });
  group.signal("pause");
  group.settle(T0 + 1);
  reported(group, 0, T0 + 2);
  expect(group.group().status).toBe("paused");
  group.signal("skip");
  group.settle(T0 + 3);
  expect(group.consumed.at(-1)).toMatchObject({ kind: "skip", applied: false });
});

test("ROLL-11: a skip while the component has not read a retry still calls it off, and the next has its turn", () => {
  const group = startedGroup();
  reported(group, 0, T0 + 1, FAILED);
  expect(group.group()).toMatchObject({ status: "paused", why: { code: "COMPONENT_FAILED" } });
  group.components[0]!.signal("retry");
  group.signal("skip");
  group.settle(T0 + 2);
  reported(group, 0, T0 + 3, FAILED);
  group.settle(T0 + 4);
  expect(group.statuses().slice(0, 2)).toEqual(["cancelled", "running"]);
});

test("ROLL-22: a group that a restore has paused resumes its component with itself", () => {
  const why = { code: "SITE_RESTORED", text: "the site was restored" };
  const part = { nodes: 2, batchSize: 2, healthWaitMs: 0, status: "paused", why } as const;
  const group = createGroupTable({
    failurePolicy: "manual",
    status: "paused",
    currentComponent: 0,
    why,
    components: [part],
  });
  group.signal("resume");
  group.settle(T0);
  expect(group.statuses()).toEqual(["running"]);
});
