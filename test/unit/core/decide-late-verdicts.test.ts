// Verdicts and heartbeats of nodes that were given up (ROLL-29).
import { describe, expect, test } from "vitest";
import { Digest } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { PREVIOUS, TARGET, type TableWish } from "../../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../../support/rollouts/rollout-table.ts";
import {
  advanceAll,
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  goesBackWell,
  progress,
  refused,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const GIVEN_UP = T0 + LIMITS.commandLifetimeMs + 60_000;
const LATE = GIVEN_UP + 3_600_000;
const OTHER = Digest.parse(`sha256:${"9".repeat(64)}`);

/** One node, given up; the rollout waits for a person. */
function givenUp(wish: Partial<TableWish> = {}): RolloutTable {
  const table = started({ nodes: 1, batchSize: 1, ...wish });
  table.advance(GIVEN_UP);
  expect(table.nodes[0]).toMatchObject({ status: "failed", errorCode: "TIMEOUT", stands: "unknown" });
  return table;
}
const nodeOf = (table: RolloutTable) => table.nodes[0]!;

function cancelled(): RolloutTable {
  const table = givenUp();
  table.signal("cancel");
  table.advance(GIVEN_UP + 1);
  expect(table.rollout().status).toBe("cancelled");
  return table;
}

const sends = (table: RolloutTable, body: Parameters<RolloutTable["report"]>[2], at = LATE) => {
  table.report(nodeOf(table).nodeId, at, body);
  return table.advance(at);
};

describe("ROLL-29: a verdict that comes after its node was given up", () => {
  test("COMPLETED puts the node back under observation, and the rollout waits for it", () => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, LATE);
    const { answeredReports } = sends(table, COMPLETED);
    expect(answeredReports).toMatchObject([{ outcome: "applied" }]);
    expect(nodeOf(table)).toMatchObject({ status: "in_progress", phase: "VERIFYING", errorCode: null });
    const due = table.rollout().healthUntil!;
    table.heartbeat(nodeOf(table).nodeId, due);
    table.advance(due);
    expect(nodeOf(table)).toMatchObject({ status: "succeeded", stands: "target", recorded: TARGET });
  });

  test("COMPLETED of a node that is not well sends it back like any other", () => {
    const table = givenUp();
    sends(table, COMPLETED);
    const due = table.rollout().healthUntil!;
    table.heartbeat(nodeOf(table).nodeId, due, { applicationHealth: "critical" });
    table.advance(due);
    expect(nodeOf(table)).toMatchObject({ status: "in_progress", direction: "reverse" });
  });

  test("FAILED_ROLLBACK of an attempt before counts while the newest attempt has said nothing", () => {
    const table = givenUp();
    const first = nodeOf(table).commandId!;
    table.signal("retry");
    advanceAll(table, GIVEN_UP + 1);
    const again = nodeOf(table).commandId!;
    expect(again).not.toBe(first);
    const later = GIVEN_UP + 2 * LIMITS.commandLifetimeMs;
    advanceAll(table, later);
    expect(nodeOf(table)).toMatchObject({ status: "failed", errorCode: "TIMEOUT", commandId: again });
    table.report(nodeOf(table).nodeId, later, FAILED, first);
    table.report(nodeOf(table).nodeId, later, FAILED_ROLLBACK, first);
    const { answeredReports } = table.advance(later + 1);
    expect(answeredReports.map(({ outcome }) => outcome)).toEqual(["superseded", "applied"]);
    expect(nodeOf(table)).toMatchObject({ status: "failed_rollback", stands: "unknown" });
  });

  test("COMPLETED settles a node of a rollout that has ended, and the ending stays", () => {
    const table = cancelled();
    table.heartbeat(nodeOf(table).nodeId, LATE);
    sends(table, COMPLETED);
    expect(nodeOf(table)).toMatchObject({ status: "succeeded", recorded: TARGET, errorCode: null });
    expect(table.rollout().status).toBe("cancelled");
  });

  test("COMPLETED of a node that is not well is recorded as a failure on the new version", () => {
    const table = cancelled();
    table.heartbeat(nodeOf(table).nodeId, LATE, { syncStatus: "stalled" });
    sends(table, COMPLETED);
    expect(nodeOf(table)).toMatchObject({ status: "failed", recorded: TARGET, errorCode: "HEALTH_STALLED" });
    expect(table.incidents).toMatchObject([{ category: "upgrade_failed", severity: "critical" }]);
  });

  test.each([
    ["FAILED", FAILED, { status: "failed", stands: "previous", errorCode: "ACTION_TIMEOUT" }],
    ["FAILED_ROLLBACK", FAILED_ROLLBACK, { status: "failed_rollback", errorCode: "COMPENSATION_FAILED" }],
    ["a refusal", refused("COMMAND_EXPIRED"), { status: "failed", stands: "previous" }],
  ])("%s says where the node stands", (_, body, expected) => {
    const table = cancelled();
    sends(table, body);
    expect(nodeOf(table)).toMatchObject(expected);
    expect(nodeOf(table).recorded).toBe(PREVIOUS);
  });

  test("FAILED after a heartbeat from the new version records what the machine went back to", () => {
    const table = cancelled();
    table.heartbeat(nodeOf(table).nodeId, LATE - 10);
    table.advance(LATE - 10);
    expect(nodeOf(table).recorded).toBe(TARGET);
    table.heartbeat(nodeOf(table).nodeId, LATE, { runningFingerprint: PREVIOUS });
    sends(table, FAILED);
    expect(nodeOf(table)).toMatchObject({ recorded: PREVIOUS, stands: "previous" });
  });

  test("progress changes nothing: the verdict is still to come", () => {
    const table = cancelled();
    const { nodes, answeredReports } = sends(table, progress(3));
    expect(nodes).toEqual([]);
    expect(answeredReports).toMatchObject([{ outcome: "late_progress" }]);
  });

  test("of a node that a later rollout has launched changes nothing, and is told so", () => {
    const table = cancelled();
    table.supersede(nodeOf(table).nodeId);
    const { nodes, answeredReports, events } = sends(table, COMPLETED);
    expect(nodes).toEqual([]);
    expect(answeredReports).toMatchObject([{ outcome: "superseded" }]);
    expect(events).toMatchObject([{ kind: "node.report", verdict: "COMPLETED", outcome: "superseded" }]);
  });

  test("a second one is a repetition", () => {
    const table = cancelled();
    sends(table, FAILED);
    const { nodes, answeredReports } = sends(table, COMPLETED, LATE + 1);
    expect(nodes).toEqual([]);
    expect(answeredReports).toMatchObject([{ outcome: "repeated" }]);
  });
});

test("ROLL-29: a retry that is read with the node's late verdict launches nothing: the node has completed", () => {
  const table = givenUp();
  table.signal("retry");
  sends(table, COMPLETED);
  table.advance(LATE + 1);
  expect(table.commands).toHaveLength(1);
  expect(nodeOf(table)).toMatchObject({ status: "in_progress", phase: "VERIFYING", attempt: 1 });
});

describe("ROLL-29: a way back that was given up", () => {
  function goingBack(): RolloutTable {
    const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
    everyoneReports(table, T0 + 1);
    table.signal("rollback");
    table.advance(T0 + 2);
    table.advance(T0 + 2 + LIMITS.commandLifetimeMs + 60_000);
    expect(nodeOf(table)).toMatchObject({ status: "failed_rollback", errorCode: "TIMEOUT" });
    expect(table.rollout().status).toBe("rolled_back");
    return table;
  }

  test("is recorded as it ended when its verdict comes after the rollout did", () => {
    const table = goingBack();
    table.heartbeat(nodeOf(table).nodeId, LATE);
    sends(table, COMPLETED);
    expect(nodeOf(table)).toMatchObject({ status: "rolled_back", stands: "previous", recorded: PREVIOUS });
  });

  test("stays a failure when the node is not well on its previous version", () => {
    const table = goingBack();
    table.heartbeat(nodeOf(table).nodeId, LATE, { restarts: 9 });
    sends(table, COMPLETED);
    expect(nodeOf(table)).toMatchObject({ status: "failed_rollback", stands: "previous" });
  });
});

describe("ROLL-29: a heartbeat of a node that was given up", () => {
  test.each([
    ["the new version", TARGET, "target"],
    ["the previous version", PREVIOUS, "previous"],
  ])("that runs %s settles what is recorded, and the failure stays", (_, runningFingerprint, stands) => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, LATE, { runningFingerprint });
    expect(table.hasWork()).toBe(true);
    table.advance(LATE);
    expect(nodeOf(table)).toMatchObject({ status: "failed", errorCode: "TIMEOUT", stands });
    expect(nodeOf(table).recorded).toBe(runningFingerprint);
    expect(nodeOf(table).errorMessage).toContain(
      `it runs the ${stands === "target" ? "new" : "previous"} version`,
    );
    expect(table.hasWork()).toBe(false);
  });

  test.each([
    ["runs something else", { runningFingerprint: OTHER }],
    ["runs nothing", { runningFingerprint: null }],
  ])("that %s settles nothing", (_, facts) => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, LATE, facts);
    expect(table.hasWork()).toBe(false);
    table.advance(LATE);
    expect(nodeOf(table)).toMatchObject({ stands: "unknown", recorded: PREVIOUS });
  });

  test("from before it was given up settles nothing", () => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, GIVEN_UP - 1);
    expect(table.hasWork()).toBe(false);
  });

  test("that runs the new version is where its retry begins", () => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, LATE);
    table.signal("retry");
    table.advance(LATE);
    table.advance(LATE + 1);
    expect(table.commands.at(-1)).toMatchObject({ attempt: 2, from: TARGET, to: TARGET });
  });
});

describe("ROLL-14: a rollback acts on what nodes run", () => {
  test("a node that was given up and runs the new version goes back", () => {
    const table = givenUp();
    table.heartbeat(nodeOf(table).nodeId, LATE);
    table.signal("rollback");
    table.advance(LATE);
    expect(table.commands.at(-1)).toMatchObject({ direction: "reverse", from: TARGET, to: PREVIOUS });
    goesBackWell(table, LATE + 1);
    expect(table.statuses()).toEqual(["rolled_back"]);
    expect(table.rollout()).toMatchObject({ status: "rolled_back" });
  });

  test("an ending does not hide nodes that have not said what they run", () => {
    const table = givenUp();
    table.signal("rollback");
    table.advance(LATE);
    expect(table.rollout()).toMatchObject({
      status: "rolled_back",
      why: { text: "0 nodes are back on their previous version; 1 have not said what they run" },
    });
  });

  test("a node that completes after the rollback ended can be taken back by another one", () => {
    const table = givenUp();
    table.signal("rollback");
    table.advance(LATE);
    sends(table, COMPLETED, LATE + 1);
    expect(table.statuses()).toEqual(["succeeded"]);
    expect(table.hasOnTarget()).toBe(true);
    table.signal("rollback");
    table.advance(LATE + 2);
    expect(atWork(table)).toHaveLength(1);
    goesBackWell(table, LATE + 3);
    expect(table.statuses()).toEqual(["rolled_back"]);
  });

  test("a node that completes while others go back joins them", () => {
    const table = started({ nodes: 2, batchSize: 1, failureThreshold: 1, healthWaitMs: 0 });
    table.advance(GIVEN_UP); // the first is given up, the second launched
    everyoneReports(table, GIVEN_UP + 1);
    table.signal("rollback");
    table.advance(GIVEN_UP + 2);
    table.report(nodeOf(table).nodeId, GIVEN_UP + 3, COMPLETED);
    table.advance(GIVEN_UP + 3);
    goesBackWell(table, GIVEN_UP + 4);
    goesBackWell(table, GIVEN_UP + 5);
    expect(table.statuses()).toEqual(["rolled_back", "rolled_back"]);
  });
});

test("ROLL-29: an unhealthy node whose way back cannot be launched is recorded on the version its heartbeat shows", () => {
  const table = started({ nodes: 1, batchSize: 1 });
  const { nodeId } = nodeOf(table);
  everyoneReports(table, T0 + 1_000);
  table.breakLaunches(() => true);
  const sick = { applicationHealth: "critical" } as const;
  table.heartbeat(nodeId, T0 + 60_000, sick);
  table.advance(T0 + 61_000);
  const failed = { status: "failed_rollback", errorCode: "NODE_STEP_FAILED" };
  expect(nodeOf(table)).toMatchObject({ ...failed, stands: "unknown", recorded: PREVIOUS });
  expect(table.hasWork()).toBe(false);
  table.heartbeat(nodeId, T0 + 62_000, sick);
  expect(table.hasWork()).toBe(true);
  table.advance(T0 + 63_000);
  expect(nodeOf(table)).toMatchObject({ ...failed, stands: "target", recorded: TARGET });
});
