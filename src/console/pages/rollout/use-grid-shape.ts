/** How wide the grid is, how many cells fit on a line, and where it begins on the page. */
import { useLayoutEffect, useState, type RefObject } from "react";

const CELL_MIN_PX = 148;
export const CELL_PX = 52;
export const HEAD_PX = 40;
/** Beyond this, names would need more scrolling than they save: then a canvas draws small cells. */
export const NAMED_NODES_MAX = 150;

function useMeasured(grid: RefObject<HTMLElement | null>): { readonly width: number; readonly top: number } {
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
  return measured;
}

export function useGridShape(grid: RefObject<HTMLElement | null>) {
  const { width, top } = useMeasured(grid);
  return { columns: Math.max(1, Math.floor(width / CELL_MIN_PX)), top };
}

export const useGridWidth = (grid: RefObject<HTMLElement | null>): number => useMeasured(grid).width;
