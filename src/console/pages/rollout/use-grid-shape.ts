/** How many cells fit on a line, and where the grid begins on the page. Many nodes get small cells. */
import { useLayoutEffect, useState, type RefObject } from "react";

interface GridShape {
  readonly isCompact: boolean;
  readonly cellMinPx: number;
  readonly cellPx: number;
  readonly headPx: number;
}

const NAMED: GridShape = { isCompact: false, cellMinPx: 148, cellPx: 52, headPx: 40 };
const COMPACT: GridShape = { isCompact: true, cellMinPx: 30, cellPx: 30, headPx: 40 };
/** Beyond this, names would need more scrolling than they save. */
const NAMED_NODES_MAX = 150;

const shapeFor = (nodeCount: number): GridShape => (nodeCount > NAMED_NODES_MAX ? COMPACT : NAMED);

export function useGridShape(grid: RefObject<HTMLElement | null>, nodeCount: number) {
  const shape = shapeFor(nodeCount);
  const [measured, setMeasured] = useState({ width: 0, top: 0 });
  useLayoutEffect(() => {
    const element = grid.current;
    if (element === null) return;
    const measure = () => {
      const { width, top } = element.getBoundingClientRect();
      const next = { width, top: Math.round(top + window.scrollY) };
      setMeasured((last) => (last.width === next.width && last.top === next.top ? last : next));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    // What stands above may grow or shrink with the window.
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [grid]);
  return { shape, columns: Math.max(1, Math.floor(measured.width / shape.cellMinPx)), top: measured.top };
}
