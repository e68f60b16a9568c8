/**
 * The grid of nodes as lines of one height each: a heading per batch, then its cells.
 * Only the lines in view are drawn, and since their heights are known, nothing moves when a cell changes.
 */
import type { NodeUpgradeView } from "../../../core/protocol/operator-api.ts";
import type { Batch } from "./batches.ts";

export type Line =
  | { readonly kind: "head"; readonly batch: Batch }
  | { readonly kind: "cells"; readonly key: string; readonly nodes: readonly NodeUpgradeView[] };

export function linesOf(batches: readonly Batch[], columns: number): readonly Line[] {
  return batches.flatMap((batch) => [{ kind: "head" as const, batch }, ...cellLines(batch, columns)]);
}

function cellLines({ index, nodes }: Batch, columns: number): Line[] {
  return Array.from({ length: Math.ceil(nodes.length / columns) }, (_, line) => ({
    kind: "cells",
    key: `${index}.${line}`,
    nodes: nodes.slice(line * columns, (line + 1) * columns),
  }));
}

export interface Place {
  readonly line: number;
  readonly nodeId: string;
}

interface Spot {
  readonly line: number;
  readonly column: number;
}

/** Where a key leads from a node; null when the key is not ours or leads nowhere. */
export function placeAfterKey(lines: readonly Line[], from: string, key: string): Place | null {
  const spot = findSpot(lines, from);
  if (spot === null) return null;
  switch (key) {
    case "ArrowRight":
      return at(lines, spot.line, spot.column + 1) ?? at(lines, nextCells(lines, spot.line, 1), 0);
    case "ArrowLeft":
      return at(lines, spot.line, spot.column - 1) ?? at(lines, nextCells(lines, spot.line, -1), Infinity);
    case "ArrowDown":
      return at(lines, nextCells(lines, spot.line, 1), spot.column, true);
    case "ArrowUp":
      return at(lines, nextCells(lines, spot.line, -1), spot.column, true);
    case "Home":
      return at(lines, nextCells(lines, -1, 1), 0);
    case "End":
      return at(lines, nextCells(lines, lines.length, -1), Infinity);
    default:
      return null;
  }
}

function findSpot(lines: readonly Line[], nodeId: string): Spot | null {
  for (const [line, entry] of lines.entries()) {
    if (entry.kind !== "cells") continue;
    const column = entry.nodes.findIndex((node) => node.node_id === nodeId);
    if (column >= 0) return { line, column };
  }
  return null;
}

function nextCells(lines: readonly Line[], from: number, step: 1 | -1): number {
  let line = from + step;
  while (lines[line]?.kind === "head") line += step;
  return line;
}

/** `Infinity` names the last cell; with `clamp`, so does a column beyond the end of a shorter line. */
function at(lines: readonly Line[], line: number, column: number, clamp = false): Place | null {
  const entry = lines[line];
  if (entry?.kind !== "cells") return null;
  const last = entry.nodes.length - 1;
  const node = entry.nodes[clamp || column === Infinity ? Math.min(column, last) : column];
  return node === undefined ? null : { line, nodeId: node.node_id };
}
