/** What must hold between any two steps of a rollout, and at its end. */
import { expect } from "vitest";
import type { ReportRow } from "../../../src/core/rollout/rows.ts";
import { isActive, isSettled } from "../../../src/core/rollout/states.ts";
import type { RolloutTable } from "./rollout-table.ts";

const failuresOf = (table: RolloutTable): number =>
  table.nodes.filter(({ status }) => status === "failed" || status === "failed_rollback").length;
const attemptedOf = (table: RolloutTable): number =>
  table.nodes.filter(({ status }) => status !== "pending" && status !== "skipped").length;

/** Advances the rollout once and looks at what the step did. */
export function watchInvariants(table: RolloutTable): (now: number) => void {
  let last: number | null = null;
  return (now) => {
    const before = { rollout: table.rollout(), nodes: table.nodes.map((node) => ({ ...node })) };
    const { signals, reports } = table.load();
    const commandsBefore = table.commands.length;
    const decision = table.advance(now);

    if (last === now && signals.length + reports.length === 0) {
      expect(decision, "an idle step changes nothing").toMatchObject({
        nodes: [],
        launches: [],
        launchBatch: null,
        events: [],
      });
    }
    last = now;
    const moved = before.nodes.filter(
      (was, index) => isSettled(was.status) && was.status !== table.nodes[index]!.status,
    );
    if (moved.length > 0) expect.fail("a settled node stays settled");
    if (!isActive(before.rollout.status)) {
      expect(table.rollout(), "an ended rollout stays ended").toEqual(before.rollout);
      expect(table.commands.length).toBe(commandsBefore);
    }
    if (decision.launchBatch !== null) batchMayOpen(table, decision.launchBatch, now);
    oneCommandAtATime(table, before.nodes, reports, commandsBefore);
    const { wakeAt } = decision;
    const wakes = table.rollout().status === "running" ? (wakeAt ?? 0) > now : wakeAt === null;
    if (!wakes) expect.fail(`a running rollout wakes up, any other sleeps: ${wakeAt}`);
  };
}

/** Counted before the new batch's own nodes. */
function batchMayOpen(table: RolloutTable, batch: number, now: number): void {
  const { rollout, nodes } = { rollout: table.rollout(), nodes: table.nodes };
  const earlier = nodes.filter((node) => node.batchIndex < batch);
  expect(
    earlier.every((node) => isSettled(node.status)),
    "all before it is settled",
  ).toBe(true);
  expect(nodes.filter((node) => node.batchIndex > batch).every((node) => node.status === "pending")).toBe(
    true,
  );
  expect(rollout).toMatchObject({
    status: "running",
    currentBatch: batch,
    cancelRequested: false,
    pauseRequested: false,
  });
  if (rollout.intentNotAfter !== null) expect(now, "the intent is open").toBeLessThan(rollout.intentNotAfter);
  const fresh = failuresOf(table) - rollout.acknowledgedFailures;
  expect(fresh, "the gate holds").toBeLessThanOrEqual(rollout.failureThreshold * Math.max(earlier.length, 1));
}

/** A command is sent to a node that never had one, or whose last one was answered: its verdict was COMPLETED. */
function oneCommandAtATime(
  table: RolloutTable,
  before: RolloutTable["nodes"],
  reports: readonly ReportRow[],
  from: number,
): void {
  for (const { nodeId, direction } of table.commands.slice(from)) {
    const was = before.find((node) => node.nodeId === nodeId)!;
    const earlier = table.commands.slice(0, from).filter((command) => command.nodeId === nodeId);
    expect(earlier.map((command) => command.direction)).toEqual(direction === "forward" ? [] : ["forward"]);
    if (direction === "forward") expect(was.status).toBe("pending");
    else {
      const answered = reports.some((report) => report.commandId === was.commandId && isCompleted(report));
      expect(was.phase === "VERIFYING" || answered, "the forward command was answered").toBe(true);
      expect(table.rollout().rollbackAllowed).toBe(true);
    }
  }
}

const isCompleted = ({ body }: ReportRow): boolean => body.kind === "verdict" && body.verdict === "COMPLETED";

export function checkEnd(table: RolloutTable): void {
  const { status, failureThreshold, acknowledgedFailures, batchCount, currentBatch } = table.rollout();
  expect(["completed", "failed", "cancelled", "paused"], "it ends, or waits for a person").toContain(status);
  const statuses = table.statuses();
  expect(statuses).not.toContain("in_progress");
  if (status !== "paused") expect(statuses).not.toContain("pending");
  if (status === "completed") {
    expect(currentBatch).toBe(batchCount - 1);
    expect(statuses).not.toContain("skipped");
    expect(failuresOf(table)).toBeLessThanOrEqual(failureThreshold * attemptedOf(table));
  }
  if (status === "failed") expect(failuresOf(table)).toBeGreaterThan(failureThreshold * attemptedOf(table));
  if (status === "paused") expect(table.rollout().why).not.toBeNull();
  const batchSize = table.nodes.filter((node) => node.batchIndex === 0).length;
  const over = failuresOf(table) - acknowledgedFailures - failureThreshold * attemptedOf(table);
  expect(over, "the threshold is passed by one batch at most").toBeLessThanOrEqual(batchSize);
  const reversed = new Set(
    table.commands.filter((each) => each.direction === "reverse").map((each) => each.nodeId),
  );
  for (const node of table.nodes) {
    const launched = table.commands.some((command) => command.nodeId === node.nodeId);
    expect(launched, "a node is skipped or pending exactly when it got no command").toBe(
      node.status !== "skipped" && node.status !== "pending",
    );
    if (node.status === "succeeded")
      expect(reversed.has(node.nodeId), "what succeeded was not put back").toBe(false);
    if (node.status.startsWith("failed")) expect(node.errorCode, "a failure says why").not.toBeNull();
    expect(node.phase).toBeNull();
  }
}
