import { describe, expect, it } from "vitest";
import { eventsSince, foldNodes, foldRollout, mayLackAny } from "../../../src/console/pages/rollout/live.ts";
import { AT, event, rollout, upgrade, upgradeEvent } from "./samples.ts";

describe("events folded into the rows of a rollout", () => {
  it("change the node they are about and leave every other row as it is", () => {
    const nodes = [upgrade(1), upgrade(2)];
    const folded = foldNodes(nodes, [upgradeEvent(1, 1, { phase: "MUTATING", action: "install_artifact" })]);
    expect(folded[0]).toMatchObject({
      status: "in_progress",
      upgrade_phase: "MUTATING",
      action_index: 4,
      progress_pct: 50,
    });
    expect(folded[1]).toBe(nodes[1]);
  });

  it("return the same rows when none concerns a node", () => {
    const nodes = [upgrade(1)];
    expect(foldNodes(nodes, [event(1, "rollout.created", {})])).toBe(nodes);
  });

  it("end with the last of several for one node", () => {
    const events = [
      upgradeEvent(1, 1, { phase: "STARTING", action: "start_node" }),
      upgradeEvent(2, 1, { status: "succeeded" }),
    ];
    const [node] = foldNodes([upgrade(1)], events);
    expect(node).toMatchObject({ status: "succeeded", upgrade_phase: null, progress_pct: 100, ended_at: AT });
  });

  it("leave the progress of a node that failed where it stopped", () => {
    const began = upgrade(1, { status: "in_progress", progress_pct: 12 });
    expect(foldNodes([began], [upgradeEvent(1, 1, { status: "failed" })])[0]).toMatchObject({
      progress_pct: 12,
    });
  });

  it("keep an error that a later event does not repeat", () => {
    const failed = foldNodes(
      [upgrade(1)],
      [upgradeEvent(1, 1, { error: { code: "DISK_FULL", text: "no space" } })],
    );
    const [node] = foldNodes(failed, [upgradeEvent(2, 1, { status: "rolled_back" })]);
    expect(node).toMatchObject({ status: "rolled_back", error_code: "DISK_FULL", error_message: "no space" });
  });

  it("launch the waiting nodes of a batch that began, and only those", () => {
    const nodes = [upgrade(1, { status: "skipped" }), upgrade(2), upgrade(3, { batch_index: 1 })];
    const folded = foldNodes(nodes, [event(1, "rollout.batch", { batch: 0, direction: "forward" })]);
    expect(folded.map((node) => node.status)).toEqual(["skipped", "in_progress", "pending"]);
  });

  it("move the rollout through its states, with the reason of the last", () => {
    const why = { code: "PAUSED", text: "paused by an operator" };
    const folded = foldRollout(rollout({ status: "pending", health_until: AT }), [
      event(1, "rollout.status", { from: "pending", to: "running", why: null }),
      event(2, "rollout.batch", { batch: 1, direction: "forward" }),
      event(3, "rollout.status", { from: "running", to: "paused", why }),
    ]);
    expect(folded).toMatchObject({ status: "paused", why, current_batch: 1, health_until: null });
  });

  it("are left out when the rows were read after them", () => {
    const old = event(
      1,
      "rollout.batch",
      { batch: 0, direction: "forward" },
      { at: "2026-01-31T11:59:59.999Z" },
    );
    const fresh = event(
      2,
      "rollout.batch",
      { batch: 1, direction: "forward" },
      { at: "2026-01-31T12:00:00.001Z" },
    );
    expect(eventsSince([old, fresh], Date.parse(AT))).toEqual([fresh]);
  });

  it.each([
    ["a second", 1_000, true],
    ["an hour", 3_600_000, false],
  ])("may be missing in rows that were read %s after them", (_, age, expected) => {
    const [old, recent] = [
      event(1, "rollout.created", {}, { at: "2026-01-01T00:00:00Z" }),
      event(2, "rollout.created", {}),
    ];
    expect(mayLackAny([old, recent], Date.parse(AT) + age)).toBe(expected);
  });
});
