/** Where everything stands on the canvas: lines of known heights, so a point finds its node and a node its place. */
import type { NodeUpgradeView } from "../../../../core/protocol/operator-api.ts";
import type { Line } from "../grid-lines.ts";

export const CELL_PX = 18;
export const HEAD_PX = 34;
/** Between a line's edge and its first cell, so that a ring around it is not cut. */
const EDGE_PX = 2;

export interface Layout {
  readonly lines: readonly Line[];
  /** The top of each line, and at last the height of all. */
  readonly tops: Float64Array;
  /** How many cells stand before each line: a cell's number is that of its line plus its column. */
  readonly firstCells: Int32Array;
}

export function layoutOf(lines: readonly Line[]): Layout {
  const tops = new Float64Array(lines.length + 1);
  const firstCells = new Int32Array(lines.length + 1);
  for (const [index, line] of lines.entries()) {
    tops[index + 1] = tops[index]! + (line.kind === "head" ? HEAD_PX : CELL_PX);
    firstCells[index + 1] = firstCells[index]! + (line.kind === "head" ? 0 : line.nodes.length);
  }
  return { lines, tops, firstCells };
}

export const heightOf = ({ tops }: Layout): number => tops.at(-1)!;
export const columnsFor = (width: number): number => Math.max(1, Math.floor((width - 2 * EDGE_PX) / CELL_PX));
export const leftOf = (column: number): number => EDGE_PX + column * CELL_PX;

/** The last line that begins at or above a height. */
export function lineAt({ lines, tops }: Layout, y: number): number {
  let [low, high] = [0, lines.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle - 1;
  }
  return low;
}

export function nodeAt(layout: Layout, x: number, y: number): NodeUpgradeView | undefined {
  if (y < 0 || y >= heightOf(layout)) return undefined;
  const line = layout.lines[lineAt(layout, y)];
  if (line?.kind !== "cells") return undefined;
  return line.nodes[Math.floor((x - EDGE_PX) / CELL_PX)];
}

export interface Spot {
  readonly line: number;
  readonly column: number;
}

export function spotOf({ lines }: Layout, nodeId: string | null): Spot | undefined {
  if (nodeId === null) return undefined;
  for (const [line, entry] of lines.entries()) {
    if (entry.kind !== "cells") continue;
    const column = entry.nodes.findIndex((node) => node.node_id === nodeId);
    if (column >= 0) return { line, column };
  }
  return undefined;
}
