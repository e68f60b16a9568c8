/**
 * The nodes of all batches as a grid that the keyboard walks: one stop for Tab, arrows inside.
 * Only the lines in view exist, so ten thousand nodes cost what a screenful does.
 */
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useMemo, useRef, type CSSProperties, type KeyboardEvent } from "react";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import type { Batch } from "./batches.ts";
import { BatchHead } from "./batch-head.tsx";
import { linesOf, placeAfterKey, type Line } from "./grid-lines.ts";
import { Legend } from "./legend.tsx";
import { NodeCell } from "./node-cell.tsx";
import { useGridShape } from "./use-grid-shape.ts";
import "./node-grid.css";

interface Props {
  readonly batches: readonly Batch[];
  readonly rollout: RolloutView;
  readonly selectedId: string | null;
  readonly onSelect: (id: string) => void;
}

export function NodeGrid({ batches, rollout, selectedId, onSelect }: Props) {
  const grid = useRef<HTMLTableElement>(null);
  const nodeCount = batches.reduce((sum, batch) => sum + batch.nodes.length, 0);
  const { shape, columns, top } = useGridShape(grid, nodeCount);
  const lines = useMemo(() => linesOf(batches, columns), [batches, columns]);
  // oxlint-disable-next-line react/incompatible-library -- the compiler is not used
  const virtual = useWindowVirtualizer({
    count: lines.length,
    estimateSize: (index) => (lines[index]?.kind === "head" ? shape.headPx : shape.cellPx),
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
      <Legend isCompact={shape.isCompact} />
      <table
        ref={grid}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role -- a table that arrows walk is a grid
        role="grid"
        aria-label="Nodes by batch"
        aria-rowcount={lines.length}
        className="node-grid"
        data-compact={shape.isCompact}
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
