import { Icon } from "./icon.tsx";
import type { Look } from "./tones.ts";
import "./chip.css";

export function Chip({ look, note }: { readonly look: Look; readonly note?: string | undefined }) {
  return (
    <span className="chip" data-tone={look.tone}>
      <Icon name={look.icon} />
      {look.label}
      {note === undefined ? null : <span className="chip-note">{note}</span>}
    </span>
  );
}
