import { describe, expect, it } from "vitest";
import { groupBatches } from "../../../src/console/pages/rollout/batches.ts";
import { CODES, codeOf, lookOfCode } from "../../../src/console/pages/rollout/canvas/cell-code.ts";
import {
  CELL_PX,
  columnsFor,
  HEAD_PX,
  heightOf,
  layoutOf,
  leftOf,
  lineAt,
  nodeAt,
  spotOf,
} from "../../../src/console/pages/rollout/canvas/layout.ts";
import { linesOf } from "../../../src/console/pages/rollout/grid-lines.ts";
import { NODE_UPGRADE_STATUSES } from "../../../src/core/rollout/states.ts";
import { UPGRADE_PHASES } from "../../../src/core/upgrade/phases.ts";
import { nodeIdOf, upgrade } from "./samples.ts";

// Two batches on three columns: [1 2 3] [4] and [5 6].
const nodes = [1, 2, 3, 4, 5, 6].map((index) => upgrade(index, { batch_index: index > 4 ? 1 : 0 }));
const layout = layoutOf(linesOf(groupBatches(nodes, { current_batch: 0, health_until: null }), 3));

describe("the canvas of ten thousand nodes", () => {
  it("is as high as its lines", () => {
    expect(heightOf(layout)).toBe(2 * HEAD_PX + 3 * CELL_PX);
    expect(heightOf(layoutOf([]))).toBe(0);
  });

  it("finds each node where it stands, and none beside it", () => {
    for (const node of nodes) {
      const { line, column } = spotOf(layout, node.node_id)!;
      const [x, y] = [leftOf(column) + CELL_PX / 2, layout.tops[line]! + CELL_PX / 2];
      expect(nodeAt(layout, x, y)?.node_id).toBe(node.node_id);
    }
    expect(nodeAt(layout, 5, 5)).toBeUndefined(); // a heading
    expect(nodeAt(layout, leftOf(1) + 1, HEAD_PX + CELL_PX + 1)).toBeUndefined(); // after the last of a line
    expect(nodeAt(layout, 5, heightOf(layout) + 1)).toBeUndefined();
    expect(nodeAt(layout, 5, -1)).toBeUndefined();
    expect(spotOf(layout, nodeIdOf(99))).toBeUndefined();
  });

  it("finds the line at every height", () => {
    for (let y = 0; y < heightOf(layout); y++) {
      const line = lineAt(layout, y);
      expect(layout.tops[line]! <= y && y < layout.tops[line + 1]!).toBe(true);
    }
  });

  it("numbers the cells without a gap", () => {
    expect([...layout.firstCells]).toEqual([0, 0, 3, 4, 4, 6]);
  });

  it("has at least one column, however narrow it is", () => {
    expect(columnsFor(0)).toBe(1);
    expect(columnsFor(4 + 10 * CELL_PX)).toBe(10);
  });

  it("gives every state, phase and direction a look of its own", () => {
    const shown = [
      ...NODE_UPGRADE_STATUSES.filter((status) => status !== "in_progress").map((status) =>
        upgrade(1, { status }),
      ),
      ...(["forward", "reverse"] as const).flatMap((direction) =>
        [null, ...UPGRADE_PHASES].map((upgrade_phase) =>
          upgrade(1, { status: "in_progress", upgrade_phase, direction }),
        ),
      ),
    ];
    const codes = shown.map(codeOf);
    expect(new Set(codes).size).toBe(shown.length);
    expect(Math.max(...codes)).toBeLessThan(CODES);
    const looks = codes.map((code) => JSON.stringify(lookOfCode(code)));
    expect(new Set(looks).size).toBe(looks.length);
  });
});
