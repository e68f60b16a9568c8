/**
 * Draws the part of the grid that is in view, and of it only what changed.
 *
 * 1. A cell is drawn again when its code differs from the one that was drawn there; ten events cost ten cells.
 * 2. The canvas is a little higher than the view: scrolling within that moves it without drawing anything.
 */
import type { RolloutView } from "../../../../core/protocol/operator-api.ts";
import { BATCH_LOOKS, settledCount, type Batch } from "../batches.ts";
import { codeOf } from "./cell-code.ts";
import { CELL_PX, HEAD_PX, heightOf, leftOf, lineAt, spotOf, type Layout } from "./layout.ts";
import type { Palette } from "./palette.ts";
import { drawSprites, type Sprites } from "./sprites.ts";

export interface Scene {
  readonly layout: Layout;
  readonly width: number;
  readonly rollout: Pick<RolloutView, "batch_count">;
  readonly focusedId: string | null;
  readonly selectedId: string | null;
  /** What the user chose; another one has other colours. */
  readonly theme: string;
}

interface View {
  /** Of the page that is seen, in the grid's own measure. */
  readonly top: number;
  readonly height: number;
}

const AHEAD_PX = 480;
const NOTHING = -1;

export function createPainter(canvas: HTMLCanvasElement, scale: number, readColours: () => Palette) {
  const pen = canvas.getContext("2d")!;
  let palette: Palette | null = null;
  let sprites: Sprites | null = null;
  let painted = new Int16Array(0);
  let heads = new Map<number, string>();
  let shape = { top: 0, bottom: 0, width: 0, lines: 0 };
  let ring = "";
  let theme: string | null = null;

  /** Everything is drawn anew, in other colours. */
  function recolour(next: string): void {
    theme = next;
    palette = readColours();
    sprites = drawSprites(palette, scale);
    shape = { top: 0, bottom: 0, width: 0, lines: 0 };
  }

  function paint(scene: Scene, view: View): void {
    if (scene.theme !== theme) recolour(scene.theme);
    const { layout } = scene;
    const cells = layout.firstCells.at(-1)!;
    const isInside =
      view.top >= shape.top && Math.min(view.top + view.height, heightOf(layout)) <= shape.bottom; // 2
    const rings = JSON.stringify([spotOf(layout, scene.focusedId), spotOf(layout, scene.selectedId)]);
    const isSame =
      isInside &&
      shape.width === scene.width &&
      shape.lines === layout.lines.length &&
      painted.length === cells &&
      ring === rings;
    if (!isSame) {
      ring = rings;
      place(scene, view, cells);
    }
    paintLines(scene);
    if (!isSame) paintRings(scene);
  }

  function place({ layout, width }: Scene, view: View, cells: number): void {
    const top = Math.max(0, Math.floor(view.top - AHEAD_PX));
    const bottom = Math.min(heightOf(layout), Math.ceil(view.top + view.height + AHEAD_PX));
    shape = { top, bottom, width, lines: layout.lines.length };
    const height = Math.ceil(view.height) + 2 * AHEAD_PX;
    const [pixelsAcross, pixelsDown] = [Math.round(width * scale), Math.round(height * scale)];
    if (canvas.width !== pixelsAcross || canvas.height !== pixelsDown) {
      canvas.width = pixelsAcross;
      canvas.height = pixelsDown;
      canvas.style.height = `${height}px`;
    }
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, pixelsAcross, pixelsDown);
    canvas.style.transform = `translateY(${top}px)`;
    painted = new Int16Array(cells).fill(NOTHING);
    heads = new Map();
  }

  function paintLines({ layout, rollout, width }: Scene): void {
    const { lines, tops, firstCells } = layout;
    const last = lineAt(layout, shape.bottom);
    for (let index = lineAt(layout, shape.top); index <= last; index++) {
      const line = lines[index];
      if (line === undefined) break;
      const y = tops[index]! - shape.top;
      if (line.kind === "head") paintHead(index, line.batch, y, width, rollout.batch_count);
      else
        for (const [column, node] of line.nodes.entries())
          paintCell(firstCells[index]! + column, codeOf(node), leftOf(column), y);
    }
  }

  /** 1 */
  function paintCell(cell: number, code: number, x: number, y: number): void {
    if (painted[cell] === code) return;
    painted[cell] = code;
    const { sheet, cellPx } = sprites!;
    const [left, top] = [Math.round(x * scale), Math.round(y * scale)];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(left + 1, top + 1, cellPx - 2, cellPx - 2);
    pen.drawImage(sheet, code * cellPx, 0, cellPx, cellPx, left, top, cellPx, cellPx);
  }

  function paintHead(line: number, batch: Batch, y: number, width: number, batchCount: number): void {
    const { tone, label } = BATCH_LOOKS[batch.state];
    const [title, counted] = headText(batch, batchCount);
    const text = `${title}|${label}|${counted}`;
    if (heads.get(line) === text) return;
    heads.set(line, text);
    const { text: ink, muted, tones, font } = palette!;
    const base = y + HEAD_PX - 12;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.clearRect(0, y, width, HEAD_PX - 1);
    pen.textBaseline = "alphabetic";
    pen.textAlign = "left";
    pen.fillStyle = ink;
    pen.font = `600 14px ${font}`;
    pen.fillText(title, leftOf(0), base);
    const after = leftOf(0) + pen.measureText(title).width + 12;
    pen.fillStyle = tones[tone].fg;
    pen.font = `500 13px ${font}`;
    pen.fillText(label, after, base);
    pen.fillStyle = muted;
    pen.textAlign = "right";
    pen.font = `13px ${font}`;
    pen.fillText(counted, width - 2, base, Math.max(0, width - after - 90));
  }

  function paintRings({ layout, focusedId, selectedId }: Scene): void {
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    for (const [id, dash] of [
      [selectedId, []],
      [focusedId, [3, 2]],
    ] as const) {
      const spot = spotOf(layout, id);
      if (spot === undefined) continue;
      pen.setLineDash([...dash]);
      pen.strokeStyle = palette!.ring;
      pen.lineWidth = 2;
      const y = layout.tops[spot.line]! - shape.top;
      pen.strokeRect(leftOf(spot.column), y, CELL_PX, CELL_PX);
    }
    pen.setLineDash([]);
  }

  return { paint, forgetColours: (): void => void (theme = null) };
}

function headText(batch: Batch, batchCount: number): readonly [title: string, counted: string] {
  const failed = batch.counts.failed + batch.counts.failed_rollback;
  return [
    `Batch ${batch.index + 1} of ${batchCount}`,
    `${settledCount(batch.counts)} of ${batch.nodes.length} settled${failed > 0 ? `, ${failed} failed` : ""}`,
  ];
}
