import { ageText, dateTimeText } from "./time-text.ts";
import { useNow } from "./use-now.ts";

/** Ticks by itself, so that its table need not. */
export function Age({ at }: { readonly at: string | null }) {
  const text = ageText(at, useNow());
  if (at === null) return <span className="muted">{text}</span>;
  return (
    <time className="numbers" dateTime={at} title={dateTimeText(at)}>
      {text}
    </time>
  );
}
