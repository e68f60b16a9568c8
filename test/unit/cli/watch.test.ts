import { describe, expect, test } from "vitest";
import { plainPaint } from "../../../src/cli/output.ts";
import { groupNodes, groupText } from "../../../src/cli/watch/group.ts";
import { eventLine } from "../../../src/cli/watch/line.ts";
import { watchModel } from "../../../src/cli/watch/model.ts";
import { renderWatch } from "../../../src/cli/watch/render.ts";
import { eventSample, rolloutSample, upgradeSample } from "./samples.ts";

const NOW = Date.parse("2026-01-01T00:01:05.000Z");
const five = () =>
  watchModel(
    rolloutSample(),
    [1, 2, 3, 4, 5].map((n) => upgradeSample(n)),
  );
const upgrade = (id: number, node: number, status: string, more: Record<string, unknown> = {}) =>
  eventSample(id, "node.upgrade", { status, phase: null, action: null, error: null, ...more }, node);
const picture = (model: ReturnType<typeof five>) =>
  renderWatch(model.view(), NOW, plainPaint, 100).split("\n");

describe("the live view of a rollout (USE-2)", () => {
  test("collapses nodes that have the same to tell into one line", () => {
    const nodes = Array.from({ length: 12 }, (_, n) => upgradeSample(n + 1, { status: "succeeded" }));
    const { view } = watchModel(rolloutSample(), [...nodes, upgradeSample(13, { status: "in_progress" })]);
    expect(groupNodes(view().nodes).map(groupText)).toEqual(["node-13 in progress", "12 nodes succeeded"]);
  });

  test("keeps nodes with different errors on lines of their own, what needs a person first", () => {
    const failed = (n: number, text: string) =>
      upgradeSample(n, { status: "failed", error_code: "HEALTH_CRITICAL", error_message: text });
    const { view } = watchModel(rolloutSample(), [
      upgradeSample(9),
      failed(1, "a"),
      failed(2, "b"),
      failed(3, "b"),
    ]);
    expect(groupNodes(view().nodes).map(groupText)).toEqual([
      "node-1 failed  HEALTH_CRITICAL: a",
      "2 nodes failed  HEALTH_CRITICAL: b",
      "node-9 pending",
    ]);
  });

  test("moves with the events: batch, phases, counts, status and why", () => {
    const model = five();
    model.apply(upgrade(1, 1, "in_progress", { phase: "STOPPED", action: "stop_node" }));
    model.apply(upgrade(2, 2, "succeeded"));
    model.apply(eventSample(3, "rollout.batch", { batch: 1 }));
    expect(picture(model)).toEqual([
      "rollout 3f2a0000  demo-http 1.0.0 → 2.0.0  running  1m 05s",
      "██████░░░░░░░░░░░░░░░░░░░░░░░░ 1/5 nodes upgraded  20%  time left unknown",
      "batch 2 of 3  ▶ · ·",
      "  ▶ node-1 in progress  STOPPED stop_node",
      "  ✔ node-2 succeeded",
      "  · 3 nodes pending",
      "why: UPGRADING: batch 1 of 3: 2 nodes at work",
    ]);
  });

  test("the bar counts only upgraded nodes as progress; failed and rolled back ones have signs and words of their own", () => {
    const model = five();
    for (const [n, status] of ["succeeded", "failed", "failed_rollback", "rolled_back"].entries())
      model.apply(upgrade(n + 1, n + 1, status));
    expect(picture(model)[1]).toBe(
      "██████▒▒▒▒▒▒✗✗✗✗✗✗✗✗✗✗✗✗░░░░░░ 1/5 nodes upgraded  20%, 1 rolled back, 2 failed  time left unknown",
    );
    const painted = renderWatch(model.view(), NOW, (style, text) => `<${style}:${text}>`, 80);
    expect(painted).toContain("<green:██████><yellow:▒▒▒▒▒▒><red:✗✗✗✗✗✗✗✗✗✗✗✗>");
  });

  test("the bar shows one failed node of a thousand", () => {
    const nodes = Array.from({ length: 1_000 }, (_, n) => upgradeSample(n + 1, { status: "succeeded" }));
    const model = watchModel(rolloutSample(), [upgradeSample(1, { status: "failed" }), ...nodes.slice(1)]);
    expect(picture(model)[1]).toBe(
      `${"█".repeat(29)}✗ 999/1000 nodes upgraded  99%, 1 failed  time left unknown`,
    );
  });

  test("shows a failed node's error until the end, and why the rollout paused", () => {
    const model = five();
    const error = { code: "HEALTH_CRITICAL", text: "probe refused" };
    model.apply(upgrade(1, 1, "in_progress", { phase: "STOPPED", error }));
    model.apply(upgrade(2, 1, "failed"));
    const why = { code: "THRESHOLD_EXCEEDED", text: "1 of 1 failed" };
    model.apply(eventSample(3, "rollout.status", { from: "running", to: "paused", why }));
    expect(picture(model)).toContain("  ✗ node-1 failed  HEALTH_CRITICAL: probe refused");
    expect(picture(model).slice(-2)).toEqual([
      "why: THRESHOLD_EXCEEDED: 1 of 1 failed",
      "next: fairlead rollout retry 3f2a0000, then resume; or force, or rollback",
    ]);
  });

  test("ROLL-12: a canary that waits for approval says exactly which command approves it", () => {
    const model = five();
    const why = { code: "CANARY_APPROVAL", text: "the canary is healthy; a breaking migration waits" };
    model.apply(eventSample(3, "rollout.status", { from: "running", to: "paused", why }));
    expect(picture(model).at(-1)).toBe('next: fairlead rollout approve-canary 3f2a0000 --reason "…"');
  });

  test("tells the time left from the pace of finished batches, and nothing while it stands still", () => {
    const model = five();
    model.apply(eventSample(1, "rollout.batch", { batch: 0 }));
    expect(picture(model)[1]).toContain("time left unknown");
    model.apply(eventSample(31, "rollout.batch", { batch: 1 }));
    // 30 s a batch; 65 s in, the second has been running for 34 s, and one is to come.
    expect(picture(model)[1]).toContain("time left about 30s");
    model.apply(eventSample(40, "rollout.status", { from: "running", to: "paused", why: null }));
    expect(picture(model)[1]).not.toContain("time left");
  });

  test("cuts what is wider than the terminal, so that no line becomes two", () => {
    const model = five();
    model.apply(upgrade(1, 1, "failed", { error: { code: "ACTION_FAILED", text: "x".repeat(300) } }));
    expect(Math.max(...picture(model).map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test("says that the connection is lost, and stops saying so", () => {
    const model = five();
    model.connection("ECONNREFUSED");
    expect(picture(model).at(-1)).toBe("no connection, trying again: ECONNREFUSED");
    model.connection(null);
    expect(picture(model).at(-1)).toMatch(/^why:/);
  });

  test("stops the clock when the rollout ends", () => {
    const model = five();
    model.apply(eventSample(9, "rollout.status", { from: "running", to: "completed", why: null }));
    expect(picture(model)[0]).toBe("rollout 3f2a0000  demo-http 1.0.0 → 2.0.0  completed  9s");
  });

  test("passes over an event that it does not know, and a node that it has not met has its id", () => {
    const model = five();
    model.apply(eventSample(1, "node.upgrade", { status: "melted" }, 1));
    model.apply(eventSample(2, "rollout.brand_new", { x: 1 }));
    model.apply(upgrade(3, 77, "in_progress"));
    expect(groupNodes(model.view().nodes).map(groupText)).toEqual([
      "0000004d in progress",
      "5 nodes pending",
    ]);
  });

  test("lets no control character of a node's message reach the terminal", () => {
    const evil = { code: "ACTION_FAILED", text: "\u001b[2J\u001b[1;1Hall is well\r\n" };
    const model = five();
    model.apply(upgrade(1, 1, "failed", { error: evil }));
    expect(picture(model).join("")).not.toMatch(/[\u0000-\u001f]/);
    const facts = { batchCount: 3, nameOf: () => "n" };
    expect(eventLine(upgrade(1, 1, "failed", { error: evil }), facts)).not.toMatch(/[\u0000-\u001f]/);
  });

  test("a thousand groups still fit a screen", () => {
    const nodes = Array.from({ length: 1000 }, (_, n) =>
      upgradeSample(n + 1, { status: "failed", error_code: "ACTION_FAILED", error_message: `disk ${n}` }),
    );
    const lines = picture(watchModel(rolloutSample(), nodes));
    expect(lines.length).toBeLessThan(24);
    expect(lines).toContain("    and 985 more nodes");
  });

  test("a thousand nodes in two hundred batches are a handful of lines", () => {
    const nodes = Array.from({ length: 1000 }, (_, n) =>
      upgradeSample(n + 1, { batch_index: Math.floor(n / 5), status: n < 700 ? "succeeded" : "pending" }),
    );
    const lines = picture(watchModel(rolloutSample({ batch_count: 200, current_batch: 140 }), nodes));
    expect(lines.slice(2)).toEqual([
      "batch 141 of 200  ✔ 140  · 60",
      "  ✔ 700 nodes succeeded",
      "  · 300 nodes pending",
      "why: UPGRADING: batch 1 of 3: 2 nodes at work",
    ]);
  });
});

describe("the plain lines of a rollout (USE-2)", () => {
  const facts = { batchCount: 3, nameOf: () => "node-1" };
  test.each([
    [eventSample(1, "rollout.created", { nodes: 5 }), "rollout created"],
    [
      eventSample(1, "rollout.status", { from: "pending", to: "running", why: null }),
      "rollout pending → running",
    ],
    [eventSample(1, "rollout.batch", { batch: 0 }), "batch 1 of 3 begins"],
    [
      eventSample(1, "rollout.signal", { signal: "pause", actor: "ann", reason: "lunch", applied: true }),
      "signal pause by ann applied: lunch",
    ],
    [
      upgrade(1, 1, "in_progress", { phase: "STOPPED", action: "stop_node" }),
      "node node-1 in_progress STOPPED stop_node",
    ],
    [upgrade(1, 1, "succeeded", { phase: "VERIFYING" }), "node node-1 succeeded"],
    [
      upgrade(1, 1, "failed", { error: { code: "DISK_FULL", text: "no space" } }),
      "node node-1 failed  DISK_FULL: no space",
    ],
  ])("an event is one stable line %#", (event, line) => {
    expect(eventLine(event, facts)).toBe(`2026-01-01T00:00:01.000Z ${line}`);
  });
});
