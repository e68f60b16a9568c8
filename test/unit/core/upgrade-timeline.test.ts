import { describe, expect, test } from "vitest";
import { UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { ACTION_WORDS, attemptsOf, type NodeEvent } from "../../../src/core/upgrade/timeline.ts";

let last = 0;
const told = (second: number, data: Record<string, unknown>, rollout = "r1"): NodeEvent => ({
  id: (last += 1),
  at: `2026-01-01T00:00:${String(second).padStart(2, "0")}.000Z`,
  kind: "node.upgrade",
  rollout_id: rollout,
  data: { status: "in_progress", phase: "PREPARING", action: null, error: null, ...data },
});
const phaseOf = (name: string) => UPGRADE_ACTIONS.find((action) => action.name === name)!.phase;
const action = (second: number, name: string) => told(second, { action: name, phase: phaseOf(name) });
const actions = (from: number, upTo = 8) =>
  UPGRADE_ACTIONS.slice(0, upTo).map(({ name }, index) => action(from + index, name));
const verifying = (second: number) => told(second, { phase: "VERIFYING" });
const states = (steps: readonly { state: string }[]) => steps.map(({ state }) => state);

describe("what happened to a node and why (ROLL-4, ROLL-7)", () => {
  test("an upgrade is its eight actions with their times, the health wait, and its end", () => {
    const events = [told(0, {}), ...actions(1), verifying(9), told(19, { status: "succeeded", phase: null })];
    const [attempt, ...others] = attemptsOf(events);
    expect(others).toEqual([]);
    expect(attempt).toMatchObject({ direction: "forward", status: "succeeded", error: null });
    expect(attempt!.steps.map((step) => step.ms)).toEqual(Array.from({ length: 8 }, () => 1000));
    expect(attempt!.observedFrom).toBe("2026-01-01T00:00:09.000Z");
    expect(attempt!.endedAt).toBe("2026-01-01T00:00:19.000Z");
  });

  test("news that was lost leaves an action done without a time, and makes nothing up", () => {
    const events = [told(0, {}), action(1, "backup_state"), action(5, "stop_node"), verifying(9)];
    const { steps } = attemptsOf(events)[0]!;
    expect(states(steps)).toEqual(Array.from({ length: 8 }, () => "done"));
    expect(steps.map((step) => step.at === null)).toEqual([false, true, true, false, true, true, true, true]);
  });

  test("actions that were told together have no time between them", () => {
    const { steps } = attemptsOf([told(0, {}), action(1, "backup_state"), action(1, "acquire_artifact")])[0]!;
    expect(steps[0]).toMatchObject({ state: "done", ms: null });
  });

  test("the action that failed is named with its reason, and none after it was reached", () => {
    const error = { code: "DISK_FULL", text: "no space" };
    const events = [
      told(0, {}),
      ...actions(1, 5),
      told(9, { status: "failed", action: "install_artifact", error }),
    ];
    const { steps, error: why } = attemptsOf(events)[0]!;
    expect(states(steps.slice(0, 5))).toEqual(["done", "done", "done", "done", "failed"]);
    expect(states(steps.slice(5))).toEqual(["not_reached", "not_reached", "not_reached"]);
    expect(why).toEqual(error);
  });

  test("while it runs, one action runs", () => {
    expect(states(attemptsOf([told(0, {}), ...actions(1, 3)])[0]!.steps)).toEqual([
      "done",
      "done",
      "running",
      ...Array.from({ length: 5 }, () => "not_reached"),
    ]);
  });

  test("an unhealthy node's way back is an attempt of its own, the newest first", () => {
    const error = { code: "HEALTH_CRITICAL", text: "probe refused" };
    const events = [
      told(0, {}),
      ...actions(1),
      verifying(9),
      told(10, { phase: "PREPARING", error }),
      ...actions(11),
      told(20, { status: "failed", phase: null }),
    ];
    expect(attemptsOf(events).map(({ direction, status }) => [direction, status])).toEqual([
      ["reverse", "failed"],
      ["forward", "in_progress"],
    ]);
  });

  test("a retry after a failure goes forward; the same node in another rollout begins anew", () => {
    const events = [
      told(0, {}),
      told(1, { status: "failed" }),
      told(2, {}),
      told(3, { status: "succeeded" }),
      told(4, {}, "r2"),
    ];
    expect(attemptsOf(events).map(({ rolloutId, direction }) => [rolloutId, direction])).toEqual([
      ["r2", "forward"],
      ["r1", "forward"],
      ["r1", "forward"],
    ]);
  });

  test("what a launch says of its direction counts more than what follows from its place", () => {
    expect(attemptsOf([told(0, { direction: "reverse" })])[0]!.direction).toBe("reverse");
  });

  test("a node that was skipped has no attempt, and events of other kinds are passed over", () => {
    expect(attemptsOf([told(0, { status: "skipped", phase: null })])).toEqual([]);
    expect(attemptsOf([{ ...told(0, {}), kind: "node.rejection" }])).toEqual([]);
    expect(attemptsOf([told(0, { status: "melted" })])).toEqual([]);
  });

  test("every action has words", () => {
    expect(Object.keys(ACTION_WORDS)).toEqual(UPGRADE_ACTIONS.map(({ name }) => name));
  });
});
