/**
 * Thousands of nodes as one canvas: smooth however many change, walked by arrow keys, and said aloud where the walk is.
 * What it shows stands below it as text as well.
 */
import {
  useEffect,
  useId,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
} from "react";
import type { RolloutView } from "../../../../core/protocol/operator-api.ts";
import { useTheme } from "../../../ui/theme.ts";
import type { Batch } from "../batches.ts";
import { linesOf, placeAfterKey } from "../grid-lines.ts";
import { Legend } from "../legend.tsx";
import { nodeLook } from "../node-look.ts";
import { useGridWidth } from "../use-grid-shape.ts";
import { BatchText } from "./batch-text.tsx";
import { CELL_PX, columnsFor, heightOf, layoutOf, nodeAt, spotOf } from "./layout.ts";
import { createPainter, type Scene } from "./paint.ts";
import { readPalette } from "./palette.ts";
import "./canvas-grid.css";

interface Props {
  readonly batches: readonly Batch[];
  readonly rollout: RolloutView;
  readonly selectedId: string | null;
  readonly onSelect: (id: string) => void;
}

export function CanvasGrid({ batches, rollout, selectedId, onSelect }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const helpId = useId();
  const width = useGridWidth(host);
  const [focusedId, setFocused] = useState<string | null>(null);
  const layout = useMemo(() => layoutOf(linesOf(batches, columnsFor(width))), [batches, width]);
  const [hasFocus, setHasFocus] = useState(false);
  usePainting(host, canvas, {
    layout,
    width,
    rollout,
    selectedId,
    focusedId: hasFocus ? focusedId : null,
    theme: useTheme(),
  });

  function onKeyDown(event: KeyboardEvent): void {
    const from = focusedId ?? selectedId ?? batches[0]?.nodes[0]?.node_id;
    if (from === undefined) return;
    if (event.key === "Enter" || event.key === " ") onSelect(from);
    else {
      const place = focusedId === null ? { nodeId: from } : placeAfterKey(layout.lines, from, event.key);
      if (place === null || !WALKING.has(event.key)) return;
      setFocused(place.nodeId);
      showInView(host.current!, layout, place.nodeId);
    }
    event.preventDefault();
  }

  const pointed = (event: MouseEvent) => {
    const { left, top } = host.current!.getBoundingClientRect();
    return nodeAt(layout, event.clientX - left, event.clientY - top);
  };

  function onClick(event: MouseEvent): void {
    const node = pointed(event);
    if (node === undefined) return;
    setFocused(node.node_id);
    onSelect(node.node_id);
  }

  /** On the element itself: a state here would draw the page again with every move of the mouse. */
  function onMouseMove(event: MouseEvent): void {
    const node = pointed(event);
    host.current!.title = node === undefined ? "" : `${node.node_name}: ${nodeLook(node).label}`;
  }

  return (
    <>
      <Legend />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- an application is operated */}
      <div
        ref={host}
        className="canvas-grid"
        role="application"
        aria-roledescription="grid of nodes"
        aria-label="Nodes by batch"
        aria-describedby={helpId}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- arrow keys walk it
        tabIndex={0}
        style={{ height: heightOf(layout) }}
        onKeyDown={onKeyDown}
        onClick={onClick}
        onMouseMove={onMouseMove}
        onFocus={() => setHasFocus(true)}
        onBlur={() => setHasFocus(false)}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </div>
      <p id={helpId} className="visually-hidden">
        Arrow keys walk from node to node, Home and End lead to the first and the last, Enter shows one. The
        same stands below as text.
      </p>
      <Spoken batches={batches} nodeId={hasFocus ? focusedId : null} />
      <BatchText batches={batches} rollout={rollout} />
    </>
  );
}

const WALKING = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End"]);

/** Where the walk is, for whoever does not see the ring. */
function Spoken({ batches, nodeId }: Pick<Props, "batches"> & { readonly nodeId: string | null }) {
  const batch = batches.find(({ nodes }) => nodes.some((node) => node.node_id === nodeId));
  const node = batch?.nodes.find((each) => each.node_id === nodeId);
  return (
    <output className="visually-hidden" aria-label="Node in focus">
      {node === undefined ? "" : `${node.node_name}: ${nodeLook(node).label}, batch ${batch!.index + 1}`}
    </output>
  );
}

function showInView(host: HTMLElement, layout: ReturnType<typeof layoutOf>, nodeId: string): void {
  const spot = spotOf(layout, nodeId);
  if (spot === undefined) return;
  const top = host.getBoundingClientRect().top + layout.tops[spot.line]!;
  if (top < 0) window.scrollBy({ top: top - 4 * CELL_PX });
  else if (top + CELL_PX > window.innerHeight)
    window.scrollBy({ top: top - window.innerHeight + 4 * CELL_PX });
}

/** Sharp enough, and no more pixels than a small machine can move. */
const scaleNow = (): number => Math.min(window.devicePixelRatio, 2);

function usePainting(
  host: RefObject<HTMLDivElement | null>,
  canvas: RefObject<HTMLCanvasElement | null>,
  scene: Scene,
): void {
  const current = useRef(scene);
  const repaint = useRef<() => void>(() => undefined);
  useEffect(() => {
    const painter = createPainter(canvas.current!, scaleNow(), () => readPalette(host.current!));
    let frame = 0;
    const paint = (): void => {
      frame = 0;
      if (host.current === null || current.current.width === 0) return;
      const { top } = host.current.getBoundingClientRect();
      painter.paint(current.current, { top: Math.max(0, -top), height: window.innerHeight });
    };
    repaint.current = () => {
      if (frame === 0) frame = requestAnimationFrame(paint);
    };
    const recolour = (): void => {
      painter.forgetColours();
      repaint.current();
    };
    const system = window.matchMedia("(prefers-color-scheme: dark)");
    const onScroll = (): void => repaint.current();
    system.addEventListener("change", recolour);
    window.addEventListener("scroll", onScroll, { passive: true });
    window.addEventListener("resize", onScroll);
    return () => {
      cancelAnimationFrame(frame);
      system.removeEventListener("change", recolour);
      window.removeEventListener("scroll", onScroll);
      window.removeEventListener("resize", onScroll);
    };
  }, [host, canvas]);
  useEffect(() => {
    current.current = scene;
    repaint.current();
  });
}
