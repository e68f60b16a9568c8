/** Every look of a cell, drawn once and copied from then on. */
import { ICON_PATHS } from "../../../ui/icon.tsx";
import { CODES, lookOfCode, type CellLook } from "./cell-code.ts";
import { CELL_PX } from "./layout.ts";
import type { Palette } from "./palette.ts";

const GAP_PX = 2;
const RADIUS_PX = 3;

export interface Sprites {
  readonly sheet: HTMLCanvasElement;
  readonly cellPx: number;
}

export function drawSprites(palette: Palette, scale: number): Sprites {
  const cellPx = Math.round(CELL_PX * scale);
  const sheet = document.createElement("canvas");
  sheet.width = cellPx * CODES;
  sheet.height = cellPx;
  const pen = sheet.getContext("2d")!;
  for (let code = 0; code < CODES; code++) {
    pen.setTransform(scale, 0, 0, scale, code * cellPx, 0);
    drawCell(pen, lookOfCode(code), palette);
  }
  return { sheet, cellPx };
}

function drawCell(pen: CanvasRenderingContext2D, { tone, sign }: CellLook, palette: Palette): void {
  const { fg, tint, edge } = palette.tones[tone];
  const size = CELL_PX - GAP_PX;
  pen.beginPath();
  pen.roundRect(GAP_PX / 2 + 0.5, GAP_PX / 2 + 0.5, size - 1, size - 1, RADIUS_PX);
  pen.fillStyle = tint;
  pen.fill();
  pen.strokeStyle = edge;
  pen.lineWidth = 1;
  pen.stroke();
  if (typeof sign === "number") {
    pen.fillStyle = fg;
    pen.font = `650 11px ${palette.font}`;
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(String(sign), CELL_PX / 2, CELL_PX / 2 + 0.5);
    return;
  }
  const iconPx = 11;
  const at = (CELL_PX - iconPx) / 2;
  pen.save();
  pen.translate(at, at);
  pen.scale(iconPx / 16, iconPx / 16);
  pen.strokeStyle = fg;
  pen.lineWidth = 2.2;
  pen.lineCap = "round";
  pen.lineJoin = "round";
  pen.stroke(new Path2D(ICON_PATHS[sign]));
  pen.restore();
}
