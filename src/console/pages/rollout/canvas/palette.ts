/** The colours of the page as the canvas needs them: resolved, because a canvas knows no custom property. */
import type { Tone } from "../../../ui/tones.ts";

export interface Palette {
  readonly tones: Readonly<
    Record<Tone, { readonly fg: string; readonly tint: string; readonly edge: string }>
  >;
  readonly text: string;
  readonly muted: string;
  readonly ring: string;
  readonly font: string;
}

const TONES = ["neutral", "info", "good", "warn", "bad"] as const satisfies readonly Tone[];

/** Reads them off an element that is in the page. */
export function readPalette(host: HTMLElement): Palette {
  const probe = document.createElement("span");
  probe.hidden = true;
  host.append(probe);
  const colour = (name: string): string => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const tones = Object.fromEntries(
    TONES.map((tone) => [
      tone,
      { fg: colour(`--${tone}-fg`), tint: colour(`--${tone}-bg`), edge: colour(`--${tone}-line`) },
    ]),
  ) as Palette["tones"];
  const palette = {
    tones,
    text: colour("--text"),
    muted: colour("--muted"),
    ring: colour("--accent"),
    font: getComputedStyle(host).fontFamily,
  };
  probe.remove();
  return palette;
}
