// The way back of a whole rollout (ROLL-14): batch by batch from the last to the first.
import { expect, test } from "vitest";
import { PREVIOUS, type TableWish } from "../../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  goesBackWell,
  lastSignal,
  refused,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const HOUR = 3_600_000;
const ask = (table: RolloutTable, kind: Parameters<RolloutTable["signal"]>[0], now: number) => {
  table.signal(kind);
  return table.advance(now);
};

/** Six nodes in three batches, all upgraded. */
function completed(changes: Partial<TableWish> = {}): RolloutTable {
  const table = started({ nodes: 6, batchSize: 2, ...changes });
  let now = T0;
  for (let batch = 0; batch < 3; batch++) now = batchSucceeds(table, now + 1);
  expect(table.rollout().status).toBe("completed");
  return table;
}

test("ROLL-14: a completed rollout goes back batch by batch, the last first, each awaited", () => {
  const table = completed();
  ask(table, "rollback", T0 + HOUR);
  expect(table.rollout()).toMatchObject({ status: "rolling_back", currentBatch: 2 });
  expect(table.statuses().slice(4)).toEqual(["in_progress", "in_progress"]);
  let now = T0 + HOUR;
  for (const batch of [2, 1, 0]) {
    expect(table.rollout()).toMatchObject({ status: "rolling_back", currentBatch: batch });
    expect(table.commands.slice(6).length).toBe((3 - batch) * 2);
    now = goesBackWell(table, now + 1);
  }
  expect(table.rollout()).toMatchObject({ status: "rolled_back", why: { code: "ROLLED_BACK" } });
  expect(table.rollout().why!.text).toBe("6 nodes are back on their previous version");
  expect(table.statuses()).toEqual(Array(6).fill("rolled_back"));
  expect(table.nodes[0]).toMatchObject({ stands: "previous", phase: null });
  for (const command of table.commands.slice(6))
    expect(command).toMatchObject({ direction: "reverse", attempt: 1 });
  expect(table.incidents).toEqual([]);
});

test("ROLL-14: what goes back is observed against its previous version for its own health wait", () => {
  const table = completed();
  ask(table, "rollback", T0 + HOUR);
  everyoneReports(table, T0 + HOUR + 1);
  table.advance(T0 + HOUR + 60_000);
  expect(atWork(table).length).toBe(2);
  const [first, second] = atWork(table);
  table.heartbeat(first!, T0 + HOUR + 60_001);
  table.heartbeat(second!, T0 + HOUR + 60_001, { runningFingerprint: table.nodes[0]!.target });
  table.advance(T0 + HOUR + 60_001);
  expect(table.statuses().slice(4)).toEqual(["rolled_back", "failed_rollback"]);
  expect(table.nodes[5]).toMatchObject({ errorCode: "HEALTH_WRONG_FINGERPRINT" });
});

test.each([
  ["fails on the node", FAILED, "ACTION_TIMEOUT", "target"],
  ["cannot be compensated", FAILED_ROLLBACK, "COMPENSATION_FAILED", "unknown"],
  ["is refused by the node", refused("INTENT_EXPIRED"), "INTENT_EXPIRED", "target"],
])("ROLL-19: a way back that %s is an incident, and the rest goes on", (_, body, code, stands) => {
  const table = completed();
  ask(table, "rollback", T0 + HOUR);
  const [first, second] = atWork(table);
  table.report(first!, T0 + HOUR + 1, body);
  table.report(second!, T0 + HOUR + 1, COMPLETED);
  table.heartbeat(second!, T0 + HOUR + 60_001);
  table.advance(T0 + HOUR + 1);
  table.advance(T0 + HOUR + 60_001);
  expect(table.nodes[4]).toMatchObject({ status: "failed_rollback", errorCode: code, stands });
  expect(table.incidents).toMatchObject([
    { category: "upgrade_rollback_failed", severity: "critical", nodeId: first, recoveryPlan: null },
  ]);
  let now = T0 + HOUR + 60_001;
  for (const batch of [1, 0]) {
    expect(table.rollout().currentBatch).toBe(batch);
    now = goesBackWell(table, now + 1);
  }
  expect(table.rollout()).toMatchObject({
    status: "rolled_back",
    why: { text: "5 nodes are back on their previous version; 1 need a person: see their incidents" },
  });
});

test("ROLL-11: a rollback of a running rollout waits for the nodes at work, then takes them back too", () => {
  const table = started({ nodes: 6, batchSize: 2 });
  const due = batchSucceeds(table, T0 + 1);
  ask(table, "rollback", due + 1);
  expect(table.rollout()).toMatchObject({
    status: "running",
    rollbackRequested: true,
    why: { code: "ROLLBACK_REQUESTED" },
  });
  expect(table.commands.length).toBe(4);
  const settled = batchSucceeds(table, due + 2);
  expect(table.rollout()).toMatchObject({
    status: "rolling_back",
    rollbackRequested: false,
    currentBatch: 1,
  });
  expect(table.statuses().slice(4)).toEqual(["skipped", "skipped"]);
  goesBackWell(table, goesBackWell(table, settled + 1) + 1);
  expect(table.statuses().slice(0, 4)).toEqual(Array(4).fill("rolled_back"));
  expect(table.rollout().status).toBe("rolled_back");
});

test("ROLL-14: a paused rollout goes back at once; what failed in it stays failed, what never began is skipped", () => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, FAILED);
  table.report(second!, T0 + 1, COMPLETED);
  table.heartbeat(second!, T0 + 1);
  table.advance(T0 + 1);
  expect(table.rollout().status).toBe("paused");
  ask(table, "rollback", T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "rolling_back", currentBatch: 0 });
  goesBackWell(table, T0 + 3);
  expect(table.statuses()).toEqual(["failed", "rolled_back", "skipped", "skipped"]);
});

test("ROLL-14: a rollout of which nothing stands on the target is rolled back at once", () => {
  const table = started({ nodes: 1, batchSize: 1 });
  everyoneReports(table, T0 + 1, FAILED);
  ask(table, "rollback", T0 + 2);
  expect(table.rollout()).toMatchObject({ status: "rolled_back" });
  expect(table.commands.length).toBe(1);
});

test.each(["cancelled", "failed"] as const)("ROLL-14: a %s rollout can go back as well", (end) => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  const [first, second] = atWork(table);
  table.report(first!, T0 + 1, end === "failed" ? FAILED : COMPLETED);
  table.report(second!, T0 + 1, COMPLETED);
  if (end === "cancelled") table.signal("cancel");
  for (const nodeId of [first!, second!]) table.heartbeat(nodeId, T0 + 1);
  table.advance(T0 + 1);
  if (end === "failed") {
    ask(table, "resume", T0 + 2);
    everyoneReports(table, T0 + 3, FAILED);
    ask(table, "resume", T0 + 4);
  }
  expect(table.rollout().status).toBe(end);
  ask(table, "rollback", T0 + HOUR);
  expect(table.rollout().status).toBe("rolling_back");
  goesBackWell(table, T0 + HOUR + 1);
  expect(table.rollout().status).toBe("rolled_back");
});

test("ROLL-14: where the intent allows no rollback nothing goes back", () => {
  const table = completed({ rollbackAllowed: false });
  ask(table, "rollback", T0 + HOUR);
  expect(lastSignal(table)).toMatchObject({ signal: "rollback", applied: false });
  expect(table.rollout().status).toBe("completed");
});

test.each(["pause", "resume", "cancel", "force", "retry", "start"] as const)(
  "ROLL-11: %s changes nothing in a rollout that goes back",
  (kind) => {
    const table = completed();
    ask(table, "rollback", T0 + HOUR);
    const before = table.rollout();
    ask(table, kind, T0 + HOUR + 1);
    expect(table.rollout()).toEqual(before);
    expect(lastSignal(table)).toMatchObject({ signal: kind, applied: false });
  },
);

test("ROLL-11: of a rollback and a cancel at once the rollback wins, in either order", () => {
  for (const kinds of [["rollback", "cancel"] as const, ["cancel", "rollback"] as const]) {
    const table = started({ nodes: 4, batchSize: 2 });
    for (const kind of kinds) table.signal(kind);
    table.advance(T0 + 1);
    batchSucceeds(table, T0 + 2);
    expect(table.rollout()).toMatchObject({ status: "rolling_back", cancelRequested: false });
  }
});

test("SNAP-15: a window that closes on the way back holds the next batch until a new intent is brought", () => {
  const table = completed({ intentNotAfter: T0 + HOUR + 10 });
  ask(table, "rollback", T0 + HOUR);
  const due = goesBackWell(table, T0 + HOUR + 1);
  expect(table.rollout()).toMatchObject({
    status: "rolling_back",
    currentBatch: 2,
    why: { code: "INTENT_EXPIRED" },
  });
  expect(table.wakeAt()).toBeNull();
  expect(table.advance(due + 1)).toMatchObject({ launchBatch: null, events: [] });
  table.renewIntent(T0 + 9 * HOUR);
  ask(table, "rollback", due + 2);
  expect(table.rollout()).toMatchObject({ status: "rolling_back", currentBatch: 1, why: null });
});

test("SNAP-15: a way back under an intent that was called off waits for a new one, and launches nothing", () => {
  const table = completed({ intentCalledOff: true });
  ask(table, "rollback", T0 + HOUR);
  expect(table.rollout()).toMatchObject({
    status: "rolling_back",
    why: { code: "INTENT_EXPIRED", text: expect.stringContaining("called off") as unknown },
  });
  expect(table.statuses()).not.toContain("in_progress");
  table.renewIntent(T0 + 9 * HOUR);
  ask(table, "rollback", T0 + HOUR + 1);
  expect(table.rollout()).toMatchObject({ status: "rolling_back", why: null });
  expect(table.statuses()).toContain("in_progress");
});

test("ROLL-14: a rollout that was paused before its first batch is rolled back without a command", () => {
  const table = started({ nodes: 2, batchSize: 1, status: "paused", why: { code: "PAUSED", text: "" } });
  table.signal("rollback");
  table.advance(T0 + 1);
  expect(table.rollout()).toMatchObject({ status: "rolled_back" });
  expect(table.statuses()).toEqual(["skipped", "skipped"]);
  expect(table.commands).toEqual([]);
});

test("ROLL-14: a node of which nothing is known from before stays, and the end says so", () => {
  const table = completed({ previousOf: (n) => (n === 5 ? null : PREVIOUS) });
  ask(table, "rollback", T0 + HOUR);
  let now = T0 + HOUR;
  for (const batch of [2, 1, 0]) {
    expect(table.rollout().currentBatch).toBe(batch);
    now = goesBackWell(table, now + 1);
  }
  expect(table.statuses()).toEqual([
    "rolled_back",
    "rolled_back",
    "rolled_back",
    "rolled_back",
    "rolled_back",
    "succeeded",
  ]);
  expect(table.rollout()).toMatchObject({
    status: "rolled_back",
    why: {
      text: "5 nodes are back on their previous version; 1 were not rolled back: no previous version is recorded, or the node was revoked or adopted on another version",
    },
  });
});
