/** A line that is longer than the terminal is wide would wrap, and push another off the screen. */
import { printable } from "../output.ts";

export function clip(text: string, width: number): string {
  const clean = printable(text);
  return clean.length <= width ? clean : `${clean.slice(0, Math.max(0, width - 1))}…`;
}
