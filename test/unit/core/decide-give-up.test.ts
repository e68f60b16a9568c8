// Nodes that do not answer are given up (ROLL-30): by an operator, after `node_silence_max`, or because they were revoked.
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { DRIVE_ACTOR } from "../../../src/core/rollout/silence.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  advanceAll,
  atWork,
  batchSucceeds,
  COMPLETED,
  everyoneReports,
  FAILED,
  lastSignal,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const twoAtWork = (changes: object = {}) =>
  started({ nodes: 4, batchSize: 2, healthWaitMs: 0, failureThreshold: 1, ...changes });

/** The first node at work reports and is well, the second is given up. */
function oneAnswers(table: RolloutTable, at: number): void {
  const [first] = atWork(table);
  table.report(first!, at, COMPLETED);
  table.heartbeat(first!, at);
  advanceAll(table, at);
}

describe("a node that is given up", () => {
  test("ROLL-30: has failed at once, nobody knows where it stands, and its batch does not wait for it", () => {
    const table = twoAtWork();
    oneAnswers(table, T0 + 1);
    table.signal("give_up", "machine is off", table.nodes[1]!.nodeId);
    advanceAll(table, T0 + 2);
    expect(table.nodes[1]).toMatchObject({
      status: "failed",
      stands: "unknown",
      errorCode: "GIVEN_UP",
      errorMessage: "ann gave it up: machine is off",
    });
    expect(table.rollout()).toMatchObject({ status: "running", currentBatch: 1 });
  });

  test("ROLL-30: for its silence before an absence of the control plane gets the time to reconnect first", () => {
    const table = twoAtWork();
    const [node] = atWork(table);
    const back = T0 + 3_600_000;
    table.signal("give_up", null, node, DRIVE_ACTOR);
    table.cameBack(back);
    table.advance(back + 1);
    expect(table.consumed.at(-1)).toMatchObject({ kind: "give_up", applied: false });
    expect(table.nodes[0]).toMatchObject({ status: "in_progress" });
    table.signal("give_up", null, node, DRIVE_ACTOR);
    table.advance(back + LIMITS.reconnectGraceMs);
    expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: "NODE_SILENT" });
  });

  test("ROLL-30: on its way back ends in failed_rollback with an incident, and the rollback goes on", () => {
    const table = started({ nodes: 2, batchSize: 1, healthWaitMs: 0 });
    batchSucceeds(table, batchSucceeds(table, T0 + 1) + 1);
    table.signal("rollback");
    advanceAll(table, T0 + 10);
    const [node] = atWork(table);
    table.signal("give_up", null, node);
    advanceAll(table, T0 + 11);
    const given = table.nodes.find(({ nodeId }) => nodeId === node)!;
    expect(given).toMatchObject({ status: "failed_rollback", stands: "unknown", errorCode: "GIVEN_UP" });
    expect(table.incidents.at(-1)).toMatchObject({ category: "upgrade_rollback_failed", nodeId: node });
    expect(atWork(table)).toHaveLength(1); // the next batch
    everyoneReports(table, T0 + 12);
    expect(table.rollout().status).toBe("rolled_back");
  });

  test.each([
    ["silence", DRIVE_ACTOR, false, "NODE_SILENT"],
    ["its revocation", "ann", true, "NODE_REVOKED"],
    ["an operator", "ann", false, "GIVEN_UP"],
  ])("ROLL-30: by %s says so with a code of its own", (_, actor, isRevoked, code) => {
    const table = twoAtWork();
    table.nodes[0]!.isRevoked = isRevoked;
    table.signal("give_up", "why", table.nodes[0]!.nodeId, actor);
    table.advance(T0 + 1);
    expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: code });
  });

  test("ROLL-30: while its health is observed stands where it said that it is, with an incident", () => {
    const table = twoAtWork({ healthWaitMs: 60_000 });
    everyoneReports(table, T0 + 1);
    table.signal("give_up", null, table.nodes[0]!.nodeId);
    table.advance(T0 + 2);
    expect(table.nodes[0]).toMatchObject({ status: "failed", stands: "target" });
    expect(table.incidents).toMatchObject([{ category: "upgrade_failed", severity: "critical" }]);
  });

  test("ROLL-30: whose verdict came at the same time is judged by that", () => {
    const table = twoAtWork();
    const [first] = atWork(table);
    table.signal("give_up", null, first);
    table.report(first!, T0 + 1, FAILED);
    table.advance(T0 + 1);
    expect(lastSignal(table)).toMatchObject({ signal: "give_up", applied: false });
    expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: "ACTION_TIMEOUT" });
  });
});

test("ROLL-30: --all-silent gives up the silent nodes and leaves the others at work", () => {
  const table = twoAtWork();
  table.nodes[1]!.silentSince = T0;
  table.signal("give_up");
  table.advance(T0 + 60_000);
  expect(table.statuses()).toEqual(["in_progress", "failed", "pending", "pending"]);
  table.signal("give_up");
  table.advance(T0 + 60_001);
  expect(lastSignal(table)).toMatchObject({ signal: "give_up", applied: false });
});

test("ROLL-30: a node that has not begun, or is settled, is not given up", () => {
  const table = twoAtWork();
  table.signal("give_up", null, table.nodes[3]!.nodeId);
  table.advance(T0 + 1);
  expect(lastSignal(table)).toMatchObject({ applied: false });
  expect(table.nodes[3]!.status).toBe("pending");
});

describe("a node that was revoked", () => {
  test("ROLL-30: before its turn is left out with its own code, and counts as no failure", () => {
    const table = twoAtWork({ failureThreshold: 0 });
    table.nodes[3]!.isRevoked = true;
    table.signal("give_up", "stolen", table.nodes[3]!.nodeId);
    everyoneReports(table, T0 + 1);
    expect(table.nodes[3]).toMatchObject({ status: "skipped", errorCode: "NODE_REVOKED", commandId: null });
    everyoneReports(table, T0 + 2);
    expect(table.rollout()).toMatchObject({ status: "completed", why: { code: "NOT_ALL_UPGRADED" } });
  });

  test("ROLL-30: while it waits for its retry is not retried, and the others are", () => {
    const table = twoAtWork({ failureThreshold: 0 });
    everyoneReports(table, T0 + 1, FAILED);
    table.nodes[0]!.isRevoked = true;
    table.nodes[0]!.retryRequested = true;
    table.signal("give_up", null, table.nodes[0]!.nodeId);
    table.signal("retry", null, table.nodes[1]!.nodeId);
    advanceAll(table, T0 + 2);
    expect(table.statuses().slice(0, 2)).toEqual(["failed", "in_progress"]);
    expect(table.nodes[0]).toMatchObject({ errorCode: "NODE_REVOKED", retryRequested: false });
  });

  test("ROLL-11: after it failed is left out by a retry of all failed nodes", () => {
    const table = twoAtWork({ failureThreshold: 0 });
    everyoneReports(table, T0 + 1, FAILED);
    table.nodes[0]!.isRevoked = true;
    table.signal("retry");
    table.advance(T0 + 2);
    expect(lastSignal(table)).toMatchObject({ applied: true });
    expect(table.rollout().why!.text).toContain("1 failed nodes are retried");
    expect(table.nodes.map(({ retryRequested }) => retryRequested)).toEqual([false, true, false, false]);
  });

  test.each([
    ["of all failed nodes", false],
    ["that names it", true],
  ])("ROLL-11: after it failed as the only one takes no retry %s", (_, isNamed) => {
    const table = twoAtWork({ failureThreshold: 0 });
    oneAnswers(table, T0 + 1);
    everyoneReports(table, T0 + 2, FAILED);
    const failed = table.nodes.findIndex(({ status }) => status === "failed");
    table.nodes[failed]!.isRevoked = true;
    table.signal("retry", null, isNamed ? table.nodes[failed]!.nodeId : null);
    table.advance(T0 + 3);
    expect(lastSignal(table)).toMatchObject({ applied: false });
    expect(table.nodes[failed]).toMatchObject({ status: "failed", retryRequested: false });
  });

  test("ROLL-14: after it succeeded stays as it is when the rollout goes back, and the end says so", () => {
    const table = started({ nodes: 2, batchSize: 2, healthWaitMs: 0 });
    batchSucceeds(table, T0 + 1);
    table.nodes[0]!.isRevoked = true;
    table.signal("rollback");
    advanceAll(table, T0 + 2);
    expect(table.statuses()).toEqual(["succeeded", "in_progress"]);
    everyoneReports(table, T0 + 3);
    expect(table.rollout()).toMatchObject({ status: "rolled_back" });
    expect(table.rollout().why!.text).toContain("1 were not rolled back");
  });
});
