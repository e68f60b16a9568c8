/**
 * The nodes of all batches as a grid that the keyboard walks: one stop for Tab, arrows inside.
 * A few have their names in their cells; where there are many, a canvas draws them.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, type CSSProperties, type KeyboardEvent } from "react";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import type { Batch } from "./batches.ts";
import { BatchHead } from "./batch-head.tsx";
import { CanvasGrid } from "./canvas/canvas-grid.tsx";
import { linesOf, placeAfterKey, type Line } from "./grid-lines.ts";
import { NodeCell } from "./node-cell.tsx";
import { CELL_PX, HEAD_PX, NAMED_NODES_MAX, useGridShape } from "./use-grid-shape.ts";
import "./node-grid.css";

interface Props {
  readonly batches: readonly Batch[];
  readonly rollout: RolloutView;
  readonly selectedId: string | null;
  readonly onSelect: (id: string) => void;
}

export function NodeGrid(props: Props) {
  const nodeCount = props.batches.reduce((sum, batch) => sum + batch.nodes.length, 0);
  return nodeCount > NAMED_NODES_MAX ? <CanvasGrid {...props} /> : <NamedGrid {...props} />;
}

function NamedGrid({ batches, rollout, selectedId, onSelect }: Props) {
  const grid = useRef<HTMLTableElement>(null);
  const { columns, top } = useGridShape(grid);
  const lines = useMemo(() => linesOf(batches, columns), [batches, columns]);
  // oxlint-disable-next-line react/incompatible-library -- the compiler is not used
  const virtual = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (lines[index]?.kind === "head" ? HEAD_PX : CELL_PX),
    getItemKey: (index) => keyOf(lines[index]!),
    overscan: 6,
    scrollMargin: top,
  });

  function onKeyDown(event: KeyboardEvent<HTMLTableElement>): void {
    const from = (event.target as HTMLElement).dataset["node"];
    const place = from === undefined ? null : placeAfterKey(lines, from, event.key);
    if (place === null) return;
    event.preventDefault();
    virtual.scrollToIndex(place.line, { align: "auto" });
    // The line may have to be drawn first.
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        grid.current?.querySelector<HTMLElement>(`[data-node="${place.nodeId}"]`)?.focus(),
      ),
    );
  }

  const tabStop = selectedId ?? batches[0]?.nodes[0]?.node_id;
  return (
    <>
      <table
        ref={grid}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a table that arrows walk is a grid
        role="grid"
        aria-label="Nodes by batch"
        aria-rowcount={lines.length}
        className="node-grid"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        <tbody>
          {virtual.getVirtualItems().map(({ key, index, start, size }) => (
            <tr
              key={key}
              aria-rowindex={index + 1}
              className="grid-line"
              style={
                {
                  height: size,
                  transform: `translateY(${start - top}px)`,
                  "--columns": columns,
                } as CSSProperties
              }
            >
              <LineContent line={lines[index]!} {...{ rollout, selectedId, onSelect, tabStop }} />
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

type ContentProps = Pick<Props, "rollout" | "selectedId" | "onSelect"> & {
  readonly line: Line;
  readonly tabStop: string | undefined;
};

function LineContent({ line, rollout, selectedId, onSelect, tabStop }: ContentProps) {
  if (line.kind === "head") return <BatchHead batch={line.batch} rollout={rollout} />;
  return line.nodes.map((node) => (
    <NodeCell
      key={node.node_id}
      node={node}
      isSelected={node.node_id === selectedId}
      isTabStop={node.node_id === tabStop}
      onSelect={onSelect}
    />
  ));
}

const keyOf = (line: Line): string => (line.kind === "head" ? `head.${line.batch.index}` : line.key);
