import { useNow } from "../../ui/use-now.ts";
import type { WhyText } from "./why.ts";

/** Ticks alone, since a wait is told by how much of it is left. */
export function WhyLine({ why }: { readonly why: (now: number) => WhyText }) {
  const { tone, code, text, next } = why(useNow());
  return (
    <p className="why-line" data-tone={tone}>
      <span className="why-text numbers">{text}</span>
      {code === null ? null : <code>{code}</code>}
      {next === null ? null : <span className="why-next">{next}</span>}
    </p>
  );
}
