import { useEffect, useRef, useState } from "react";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { ROLLOUT_LOOKS } from "../../ui/tones.ts";

/** Says changes of status aloud, politely; the cells change too often to be read out. */
export function Announcer({ rollout }: { readonly rollout: RolloutView }) {
  const [text, setText] = useState("");
  const last = useRef(rollout.status);
  useEffect(() => {
    if (last.current === rollout.status) return;
    last.current = rollout.status;
    const why = rollout.why === null ? "" : `: ${rollout.why.text}`;
    setText(`Rollout ${ROLLOUT_LOOKS[rollout.status].label.toLowerCase()}${why}`);
  }, [rollout.status, rollout.why]);
  return (
    <output className="visually-hidden" aria-label="Rollout status">
      {text}
    </output>
  );
}
