import { useEffect, useRef, useState } from "react";
import type { Look } from "./tones.ts";

interface Props {
  readonly name: string;
  readonly look: Look;
  readonly why: string | null;
}

/** Says changes of status aloud, politely; what is below changes too often to be read out. */
export function StatusAnnouncer({ name, look: { label }, why }: Props) {
  const [text, setText] = useState("");
  const last = useRef(label);
  useEffect(() => {
    if (last.current === label) return;
    last.current = label;
    setText(`${name} ${label.toLowerCase()}${why === null ? "" : `: ${why}`}`);
  }, [name, label, why]);
  return (
    <output className="visually-hidden" aria-label={`${name} status`}>
      {text}
    </output>
  );
}
