// What a group makes of a failed component: the three policies (ROLL-13), and the way back (ROLL-14).
import { expect, test } from "vitest";
import { createGroupTable, type GroupTable } from "../../../support/rollouts/group-table.ts";
import { atWork, COMPLETED, FAILED, T0 } from "../../../support/rollouts/scenes.ts";
import { beatAll, componentSucceeds, reported, startedGroup } from "./scenes.ts";

const POLICIES = ["partial_ok", "rollback_all", "manual"] as const;
type Policy = (typeof POLICIES)[number];

/** The first component is upgraded, the second pauses over its threshold. */
function secondFails(failurePolicy: Policy): { group: GroupTable; now: number } {
  const group = startedGroup({ failurePolicy });
  const now = componentSucceeds(group, 0, T0 + 1) + 1;
  reported(group, 1, now, FAILED);
  return { group, now };
}

/** Everybody on the way back reports and keeps well. */
function goesBack(group: GroupTable, index: number, at: number): void {
  const table = group.components[index]!;
  expect(table.rollout().status).toBe("rolling_back");
  for (const nodeId of atWork(table))
    expect(table.nodes.find((node) => node.nodeId === nodeId)!.direction).toBe("reverse");
  reported(group, index, at);
}

test("ROLL-13: partial_ok calls off the failed component and the later ones, keeps what is complete, and is partial", () => {
  const { group } = secondFails("partial_ok");
  expect(group.statuses()).toEqual(["completed", "cancelled", "cancelled"]);
  expect(group.group()).toMatchObject({ status: "partial", why: { code: "PARTIAL" } });
  expect(group.asked.slice(2)).toEqual(["cancel 1", "cancel 2"]);
  expect(group.components[0]!.statuses()).toEqual(["succeeded", "succeeded"]);
});

test("ROLL-13: partial_ok with nothing complete is failed", () => {
  const group = startedGroup({ failurePolicy: "partial_ok" });
  reported(group, 0, T0 + 1, FAILED);
  expect(group.statuses()).toEqual(["cancelled", "cancelled", "cancelled"]);
  expect(group.group()).toMatchObject({ status: "failed", why: { code: "COMPONENT_FAILED" } });
});

test("ROLL-13: partial_ok counts a component whose nodes did not keep well as not completed", () => {
  const group = startedGroup({ failurePolicy: "partial_ok" });
  reported(group, 0, T0 + 1);
  const table = group.components[0]!;
  beatAll(table, T0 + 60_001);
  table.heartbeat(table.nodes[0]!.nodeId, T0 + 60_001, { applicationHealth: "critical" });
  group.settle(T0 + 60_001);
  expect(group.statuses()).toEqual(["completed", "cancelled", "cancelled"]);
  expect(group.group().status).toBe("failed");
});

test("ROLL-14: a rollback of a group takes back nodes of a cancelled component that were given up and run the new version", () => {
  const { group, now } = secondFails("partial_ok");
  const [onTarget, unknown] = group.components[1]!.nodes;
  Object.assign(onTarget!, { stands: "target" });
  Object.assign(unknown!, { stands: "unknown" });
  group.signal("rollback");
  group.settle(now + 1);
  expect(group.statuses()).toEqual(["completed", "rolling_back", "cancelled"]);
  goesBack(group, 1, now + 2);
  goesBack(group, 0, now + 3);
  expect(group.group()).toMatchObject({ status: "rolled_back" });
  expect(group.group().why!.text).toBe(
    "3 nodes are back on their previous version; 1 nodes have not said what they run",
  );
});

/** A cancelled component none of whose nodes has said what it runs; the first component is on the new version. */
function secondUnknown(): { group: GroupTable; now: number } {
  const { group, now } = secondFails("partial_ok");
  for (const node of group.components[1]!.nodes) Object.assign(node, { stands: "unknown" });
  group.signal("rollback");
  group.settle(now + 1);
  goesBack(group, 0, now + 2);
  expect(group.group()).toMatchObject({ status: "rolled_back" });
  return { group, now: now + 3 };
}

test("ROLL-14: a rollback of a group takes back a cancelled component whose nodes have not said what they run", () => {
  const { group } = secondUnknown();
  expect(group.statuses()).toEqual(["rolled_back", "rolled_back", "cancelled"]);
  expect(group.group().why!.text).toBe(
    "2 nodes are back on their previous version; 2 nodes have not said what they run",
  );
});

test("ROLL-14: a group that was rolled back takes a second rollback once an unknown node shows the new version, and not before", () => {
  const { group, now } = secondUnknown();
  group.signal("rollback");
  group.settle(now);
  expect(group.consumed.at(-1)).toMatchObject({ kind: "rollback", applied: false });
  const [back, other] = group.components[1]!.nodes;
  Object.assign(back!, { stands: "target" });
  group.signal("rollback");
  group.settle(now + 1);
  expect(group.group().status).toBe("rolling_back");
  expect(group.statuses()).toEqual(["rolled_back", "rolling_back", "cancelled"]);
  goesBack(group, 1, now + 2);
  expect(group.group()).toMatchObject({ status: "rolled_back" });
  expect(group.group().why!.text).toBe(
    "3 nodes are back on their previous version; 1 nodes have not said what they run",
  );
  Object.assign(other!, { stands: "previous" });
  group.signal("rollback");
  group.settle(now + 3);
  expect(group.consumed.at(-1)).toMatchObject({ kind: "rollback", applied: false });
});

test("ROLL-14: a node without a previous version stays, and the group's end does not claim that every component is back", () => {
  const part = { nodes: 2, batchSize: 2, healthWaitMs: 0 };
  const group = startedGroup({ components: [part] });
  const now = componentSucceeds(group, 0, T0 + 1);
  group.components[0]!.nodes[1]!.previous = null;
  group.signal("rollback");
  group.settle(now + 1);
  goesBack(group, 0, now + 2);
  expect(group.group().why!.text).toBe(
    "1 nodes are back on their previous version; 1 nodes of component 1 (part-0) are not: no previous version is recorded, or the node was revoked",
  );
});

test("ROLL-13: rollback_all takes back the failed component and then all complete ones, the last first", () => {
  const { group, now } = secondFails("rollback_all");
  expect(group.group()).toMatchObject({ status: "rolling_back", failedComponent: 1 });
  // Nothing of the second stands on the target, so it is back at once; the third never began.
  expect(group.asked.slice(2)).toEqual(["cancel 2", "rollback 1", "rollback 0"]);
  expect(group.statuses()).toEqual(["rolling_back", "rolled_back", "cancelled"]);
  goesBack(group, 0, now + 1);
  expect(group.statuses()).toEqual(["rolled_back", "rolled_back", "cancelled"]);
  expect(group.group()).toMatchObject({ status: "rolled_back", why: { code: "ROLLED_BACK" } });
});

test("ROLL-14: on the way back a component begins only when the one after it is back whole", () => {
  const group = startedGroup({ failurePolicy: "rollback_all" });
  let now = T0;
  for (const index of [0, 1, 2]) now = componentSucceeds(group, index, now + 1);
  expect(group.group().status).toBe("completed");
  group.signal("rollback", "bad idea");
  group.settle(now + 1);
  for (const index of [2, 1, 0]) {
    const expected = [0, 1, 2].map((at) =>
      at > index ? "rolled_back" : at === index ? "rolling_back" : "completed",
    );
    expect(group.statuses()).toEqual(expected);
    goesBack(group, index, now + 2);
  }
  expect(group.group().status).toBe("rolled_back");
  expect(group.asked.slice(3)).toEqual(["rollback 2", "rollback 1", "rollback 0"]);
});

test("ROLL-14: a component whose intent allows no rollback is left, and the end says so", () => {
  const group = startedGroup({
    components: [
      { nodes: 2, batchSize: 2, healthWaitMs: 0, rollbackAllowed: false },
      { nodes: 2, batchSize: 2, healthWaitMs: 0 },
    ],
  });
  let now = T0;
  for (const index of [0, 1]) now = componentSucceeds(group, index, now + 1);
  group.signal("rollback");
  group.settle(now + 1);
  goesBack(group, 1, now + 2);
  expect(group.statuses()).toEqual(["completed", "rolled_back"]);
  expect(group.group()).toMatchObject({ status: "rolled_back" });
  expect(group.group().why!.text).toBe(
    "2 nodes are back on their previous version; 2 nodes of component 1 (part-0) are not: no rollback was signed for it",
  );
});

test("ROLL-13: manual pauses, and a resume lets the component go on", () => {
  const { group, now } = secondFails("manual");
  expect(group.group()).toMatchObject({ status: "paused", why: { code: "COMPONENT_FAILED" } });
  expect(group.statuses()).toEqual(["completed", "paused", "pending"]);
  group.signal("resume");
  group.settle(now + 1);
  // Resumed over its failures in its last batch it ends as failed: that is a failure of its own.
  expect(group.statuses()).toEqual(["completed", "failed", "pending"]);
  expect(group.group()).toMatchObject({ status: "paused", failedComponent: 1 });
  group.signal("resume");
  group.settle(now + 2);
  expect(group.consumed.at(-1)).toMatchObject({ kind: "resume", applied: false }); // it has ended: only skip leads on
});

test("ROLL-13: manual and skip leave the failed component behind, and the group ends partial", () => {
  const { group, now } = secondFails("manual");
  group.signal("skip");
  group.settle(now + 1);
  expect(group.statuses()).toEqual(["completed", "cancelled", "running"]);
  expect(group.group()).toMatchObject({ status: "running", currentComponent: 2, failedComponent: null });
  componentSucceeds(group, 2, now + 2);
  expect(group.group()).toMatchObject({ status: "partial" });
});

test("ROLL-13: manual and rollback take back what there is", () => {
  const { group, now } = secondFails("manual");
  group.signal("rollback");
  group.settle(now + 1);
  goesBack(group, 0, now + 2);
  expect(group.group().status).toBe("rolled_back");
});

test("ROLL-13: an operator who forces the failed component sets its group going as well", () => {
  const part = { nodes: 4, batchSize: 2, healthWaitMs: 0 };
  const group = startedGroup({ components: [part, part] });
  reported(group, 0, T0 + 1, FAILED);
  expect(group.group().status).toBe("paused");
  group.components[0]!.signal("force");
  group.settle(T0 + 2);
  expect(group.statuses()[0]).toBe("running");
  expect(group.group()).toMatchObject({ status: "running", failedComponent: null });
});

test("ROLL-13: a forced component that fails over its threshold does not open the gate to the next one", () => {
  const forced = { nodes: 2, batchSize: 2, healthWaitMs: 0, forceContinue: true };
  const group = startedGroup({ components: [forced, forced] });
  const [first, second] = atWork(group.components[0]!);
  group.components[0]!.report(first!, T0 + 1, FAILED);
  group.components[0]!.report(second!, T0 + 1, COMPLETED);
  beatAll(group.components[0]!, T0 + 1);
  group.settle(T0 + 1);
  expect(group.statuses()).toEqual(["failed", "pending"]);
  expect(group.group()).toMatchObject({ status: "paused", why: { code: "COMPONENT_FAILED" } });
});

test.each([{ forceContinue: true }, { failureThreshold: 1 }])(
  "ROLL-13: a rollback_all group with %o in which no node was upgraded is not completed",
  (lenient) => {
    const part = { nodes: 2, batchSize: 2, healthWaitMs: 0, ...lenient };
    const group = startedGroup({ failurePolicy: "rollback_all", components: [part, part] });
    reported(group, 0, T0 + 1, FAILED);
    expect(group.statuses()).toEqual(["rolled_back", "cancelled"]);
    expect(group.group().status).toBe("rolled_back");
  },
);

test("ROLL-13: retried nodes of a paused component change nothing by themselves; a resume then goes on", () => {
  const { group, now } = secondFails("manual");
  group.components[1]!.signal("retry");
  group.settle(now + 1);
  reported(group, 1, now + 2);
  expect(group.group().status).toBe("paused");
  group.signal("resume");
  group.settle(now + 3);
  expect(group.statuses()[1]).toBe("completed");
  expect(group.group()).toMatchObject({ status: "running", currentComponent: 1 });
});

test("ROLL-13: a watch that failed is repeated by a resume", () => {
  const group = startedGroup();
  reported(group, 0, T0 + 1);
  beatAll(group.components[0]!, T0 + 60_001);
  group.components[0]!.heartbeat(group.components[0]!.nodes[0]!.nodeId, T0 + 60_001, { restarts: 9 });
  group.settle(T0 + 60_001);
  expect(group.group().status).toBe("paused");
  group.signal("resume");
  group.settle(T0 + 70_000);
  expect(group.group()).toMatchObject({ status: "running", gateUntil: T0 + 130_000 });
  beatAll(group.components[0]!, T0 + 130_000);
  group.settle(T0 + 130_000);
  expect(group.statuses()).toEqual(["completed", "running", "pending"]);
});

test.each(POLICIES)(
  "ROLL-13: a component cancelled or failed for whatever reason is a failure under %s",
  (failurePolicy) => {
    const group = createGroupTable({
      failurePolicy,
      status: "running",
      currentComponent: 0,
      components: [
        { nodes: 1, batchSize: 1, status: "failed", why: { code: "THRESHOLD_EXCEEDED", text: "1 of 1" } },
      ],
    });
    group.settle(T0);
    const expected = { partial_ok: "failed", rollback_all: "rolled_back", manual: "paused" } as const;
    expect(group.group().status).toBe(expected[failurePolicy]);
  },
);
