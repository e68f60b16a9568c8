import { describe, expect, it } from "vitest";
import { groupBatches } from "../../../src/console/pages/rollout/batches.ts";
import { linesOf, placeAfterKey } from "../../../src/console/pages/rollout/grid-lines.ts";
import { nodeLook } from "../../../src/console/pages/rollout/node-look.ts";
import { whyText } from "../../../src/console/pages/rollout/why.ts";
import { AT, nodeIdOf, rollout, upgrade } from "./samples.ts";

describe("the grid of nodes", () => {
  // Two batches on three columns: [1 2 3] [4] and [5 6].
  const nodes = [1, 2, 3, 4, 5, 6].map((index) => upgrade(index, { batch_index: index > 4 ? 1 : 0 }));
  const lines = linesOf(groupBatches(nodes, { current_batch: 0, health_until: null }), 3);
  const after = (from: number, key: string) => placeAfterKey(lines, nodeIdOf(from), key)?.nodeId;

  it("is a heading and full lines for each batch", () => {
    expect(lines.map((line) => (line.kind === "head" ? "head" : line.nodes.length))).toEqual([
      "head",
      3,
      1,
      "head",
      2,
    ]);
  });

  it.each([
    [1, "ArrowRight", 2],
    [3, "ArrowRight", 4],
    [4, "ArrowRight", 5],
    [5, "ArrowLeft", 4],
    [2, "ArrowDown", 4],
    [4, "ArrowDown", 5],
    [6, "ArrowUp", 4],
    [6, "Home", 1],
    [1, "End", 6],
  ])("leads from node %i by %s to node %i", (from, key, to) => {
    expect(after(from, key)).toBe(nodeIdOf(to));
  });

  it("leads nowhere beyond its ends, by other keys, or from a node that is gone", () => {
    expect(after(1, "ArrowLeft")).toBeUndefined();
    expect(after(6, "ArrowRight")).toBeUndefined();
    expect(after(5, "ArrowDown")).toBeUndefined();
    expect(after(1, "Tab")).toBeUndefined();
    expect(after(99, "ArrowRight")).toBeUndefined();
  });
});

describe("the look of a node", () => {
  it("is its phase while it works, and its status before and after", () => {
    expect(nodeLook(upgrade(1, { status: "in_progress", upgrade_phase: "STARTING" })).label).toBe("Starting");
    expect(nodeLook(upgrade(1, { status: "failed", upgrade_phase: "STARTING" })).label).toBe("Failed");
  });

  it("tells an upgrade from its undoing", () => {
    const look = nodeLook(
      upgrade(1, { status: "in_progress", upgrade_phase: "STOPPED", direction: "reverse" }),
    );
    expect(look).toMatchObject({ tone: "warn", label: "Undo: stopped" });
  });
});

describe("the why line", () => {
  const now = Date.parse(AT);

  it("repeats what the server says, and what to do when the code has a remedy", () => {
    const why = { code: "INTENT_EXPIRED", text: "the signed window is over" };
    expect(whyText(rollout({ status: "paused", why }), now)).toMatchObject({
      tone: "warn",
      text: why.text,
      next: "The intent's window is closed: sign a new intent.",
    });
  });

  it("counts the health wait down", () => {
    const why = { code: "OBSERVING_HEALTH", text: "…" };
    const at = (seconds: number) => whyText(rollout({ why, health_until: AT }), now - seconds * 1_000).text;
    expect(at(42)).toBe("batch 1 of 2 is installed; its health is observed for another 42 s");
    expect(at(0)).toBe("batch 1 of 2 is installed; its health is being judged");
  });

  it("is never empty", () => {
    expect(whyText(rollout({ why: null }), now).text).not.toBe("");
    expect(whyText(rollout({ status: "cancelled" }), now).text).not.toBe("");
  });

  it("says at the end how many and how long", () => {
    const done = rollout({ status: "completed", started_at: AT, ended_at: "2026-01-31T12:03:20.000Z" });
    expect(whyText(done, now).text).toBe("0 of 4 nodes upgraded in 3 min 20 s");
  });
});
