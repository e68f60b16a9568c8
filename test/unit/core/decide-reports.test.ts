import { describe, expect, test } from "vitest";
import { ProfileId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import {
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  FAILED_ROLLBACK,
  progress,
  refused,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const SILENCE = LIMITS.commandLifetimeMs + 60_000;
const fleet = () => started({ nodes: 2, batchSize: 2, failureThreshold: 1 });

test("progress moves phase, action and percentage, and is an event (ROLL-7)", () => {
  const table = fleet();
  const [first] = atWork(table);
  table.report(first!, T0 + 1, progress(4));
  table.advance(T0 + 1);
  expect(table.nodes[0]).toMatchObject({
    phase: "MUTATING",
    actionName: "install_artifact",
    progressPct: 50,
  });
  expect(table.events.at(-1)).toMatchObject({
    kind: "node.upgrade",
    nodeId: first,
    phase: "MUTATING",
    action: "install_artifact",
  });
});

test("SNAP-17: a verdict that was stored while the clock was ahead counts from the step that reads it", () => {
  const table = fleet();
  for (const nodeId of atWork(table)) table.report(nodeId, T0 + 12 * 3_600_000, COMPLETED);
  table.advance(T0 + 1);
  expect(table.nodes.map(({ installedAt }) => installedAt)).toEqual([T0 + 1, T0 + 1]);
});

test.each([
  ["FAILED", FAILED, "failed", "ACTION_TIMEOUT"],
  ["FAILED_ROLLBACK", FAILED_ROLLBACK, "failed_rollback", "COMPENSATION_FAILED"],
  ["a refusal", refused("CURRENT_MISMATCH"), "failed", "CURRENT_MISMATCH"],
])("%s settles the node with its reason, and where it stood is kept", (_, body, status, errorCode) => {
  const table = fleet();
  const [first] = atWork(table);
  table.report(first!, T0 + 1, progress(4));
  table.advance(T0 + 1);
  table.report(first!, T0 + 2, body);
  table.advance(T0 + 2);
  expect(table.nodes[0]).toMatchObject({
    status,
    phase: null,
    errorCode,
    errorMessage: `because of ${errorCode}`,
  });
  expect(table.nodes[0]).toMatchObject({ actionName: "install_artifact", progressPct: 50 });
  expect(table.events.at(-1)).toMatchObject({ kind: "node.upgrade", status, error: { code: errorCode } });
});

test("a node that is never heard of has failed when its command is over, a moment earlier it has not", () => {
  const table = fleet();
  table.advance(T0 + SILENCE - 1);
  expect(table.statuses()).toEqual(["in_progress", "in_progress"]);
  table.advance(T0 + SILENCE);
  expect(table.statuses()).toEqual(["failed", "failed"]);
  expect(table.nodes[0]).toMatchObject({ errorCode: "TIMEOUT", stands: "unknown" });
});

test("a node that was heard of is given the time that its own deadlines take, from the latest it may have begun", () => {
  const table = fleet();
  const [first] = atWork(table);
  table.report(first!, T0 + SILENCE - 1, progress(0));
  table.advance(T0 + SILENCE);
  expect(table.statuses()).toEqual(["in_progress", "failed"]);
  const end = T0 + SILENCE + LIMITS.scheduleToCloseMs + LIMITS.compensationBudgetMs;
  table.advance(end - 1);
  expect(table.statuses()).toEqual(["in_progress", "failed"]);
  table.advance(end);
  expect(table.statuses()).toEqual(["failed", "failed"]);
});

test("a verdict that comes with the deadline counts before it", () => {
  const table = fleet();
  everyoneReports(table, T0 + SILENCE);
  expect(table.nodes.map((node) => node.phase)).toEqual(["VERIFYING", "VERIFYING"]);
});

describe("a node behind another program's job", () => {
  const waiting = { kind: "waiting", waiting_for: ProfileId.parse("execution"), jobs_ahead: 1 } as const;

  test("ROLL-28: it says for which program it waits until its own job begins", () => {
    const table = fleet();
    const [first] = atWork(table);
    table.report(first!, T0 + 1, waiting);
    table.advance(T0 + 1);
    expect(table.nodes[0]).toMatchObject({
      status: "in_progress",
      waitingFor: "execution",
      actionName: null,
    });
    expect(table.events.at(-1)).toMatchObject({
      kind: "node.upgrade",
      nodeId: first,
      waitingFor: "execution",
    });
    table.report(first!, T0 + 2, progress(0));
    table.advance(T0 + 2);
    expect(table.nodes[0]).toMatchObject({ waitingFor: null, actionName: "backup_state" });
    expect(table.events.at(-1)).not.toHaveProperty("waitingFor");
  });

  test("ROLL-28: a report of the wait that arrives after the first action changes nothing", () => {
    const table = fleet();
    const [first] = atWork(table);
    table.report(first!, T0 + 1, progress(0));
    table.report(first!, T0 + 1, waiting);
    table.advance(T0 + 1);
    expect(table.nodes[0]).toMatchObject({ waitingFor: null, actionName: "backup_state" });
  });

  test.each([
    ["a verdict", FAILED],
    ["a refusal", refused("COMMAND_EXPIRED")],
  ])("ROLL-28: %s ends the wait", (_, body) => {
    const table = fleet();
    const [first] = atWork(table);
    table.report(first!, T0 + 1, waiting);
    table.advance(T0 + 1);
    table.report(first!, T0 + 2, body);
    table.advance(T0 + 2);
    expect(table.nodes[0]).toMatchObject({ status: "failed", waitingFor: null });
    expect(table.events.at(-1)).not.toHaveProperty("waitingFor");
  });
});
