import { describe, expect, it } from "vitest";
import { groupBatches, settledCount } from "../../../src/console/pages/rollout/batches.ts";
import { AT, upgrade } from "./samples.ts";

const idle = { current_batch: 0, health_until: null };
const stateOf = (...statuses: Parameters<typeof upgrade>[1][]) =>
  groupBatches(
    statuses.map((over, index) => upgrade(index, over)),
    idle,
  )[0]?.state;

describe("nodes grouped into batches", () => {
  it("come in the order of their batch, each with its own nodes", () => {
    const nodes = [upgrade(1, { batch_index: 1 }), upgrade(2), upgrade(3), upgrade(4, { batch_index: 10 })];
    const batches = groupBatches(nodes, idle);
    expect(
      batches.map(({ index, nodes: members }) => [index, members.map((node) => node.node_name)]),
    ).toEqual([
      [0, ["node-2", "node-3"]],
      [1, ["node-1"]],
      [10, ["node-4"]],
    ]);
  });

  it("wait before they begin and are done when all succeeded", () => {
    expect(stateOf({}, {})).toBe("waiting");
    expect(stateOf({ status: "succeeded" }, { status: "succeeded" })).toBe("done");
  });

  it("show a failure, but not before the other nodes have ended", () => {
    expect(stateOf({ status: "failed" }, { status: "in_progress" })).toBe("upgrading");
    expect(stateOf({ status: "failed" }, { status: "succeeded" })).toBe("failed");
    expect(stateOf({ status: "failed_rollback" }, { status: "succeeded" })).toBe("failed");
  });

  it("are skipped only when every node is", () => {
    expect(stateOf({ status: "skipped" }, { status: "skipped" })).toBe("skipped");
    expect(stateOf({ status: "succeeded" }, { status: "skipped" })).toBe("done");
  });

  it("are observed only in the current batch, while health is waited for", () => {
    const nodes = [
      upgrade(1, { status: "in_progress" }),
      upgrade(2, { status: "in_progress", batch_index: 1 }),
    ];
    const batches = groupBatches(nodes, { current_batch: 0, health_until: AT });
    expect(batches.map((batch) => batch.state)).toEqual(["observing", "upgrading"]);
  });

  it("count as settled what neither waits nor works", () => {
    const nodes = [upgrade(1), upgrade(2, { status: "rolled_back" }), upgrade(3, { status: "in_progress" })];
    expect(settledCount(groupBatches(nodes, idle)[0]!.counts)).toBe(1);
  });
});
