/** The few icons of the console, drawn as lines: no font, no request. Always beside a word or under a label. */
import type { IconName } from "./tones.ts";

export const ICON_PATHS: Record<IconName | "copy" | "close" | "sun" | "moon" | "system" | "arrow", string> = {
  circle: "M8 3.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z",
  progress: "M8 2.5a5.5 5.5 0 1 1-5.2 3.7M8 5v3.2l2 1.3",
  check: "M3 8.5l3.2 3.2L13 4.8",
  cross: "M4 4l8 8M12 4l-8 8",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  undo: "M3 6.5h6.5a3.2 3.2 0 0 1 0 6.5H6M3 6.5l3-3M3 6.5l3 3",
  alert: "M8 2.5l6 10.8H2zM8 6.5v3M8 11.3v.2",
  dash: "M3.5 8h9",
  eye: "M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8zM8 6.4a1.6 1.6 0 1 0 0 3.2 1.6 1.6 0 0 0 0-3.2z",
  copy: "M5.5 5.5h7v8h-7zM3.5 10.5v-8h7",
  close: "M4 4l8 8M12 4l-8 8",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  moon: "M13 9.6A5.6 5.6 0 0 1 6.4 3a5.6 5.6 0 1 0 6.6 6.6z",
  system: "M2 3h12v8H2zM6 13.5h4M8 11v2.5",
  arrow: "M3 8h10M9.5 4.5L13 8l-3.5 3.5",
};

export function Icon({ name }: { readonly name: keyof typeof ICON_PATHS }) {
  return (
    <svg className="icon" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={ICON_PATHS[name]} />
    </svg>
  );
}
