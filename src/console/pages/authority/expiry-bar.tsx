import { dateTimeText } from "../../ui/time-text.ts";
import { useNow } from "../../ui/use-now.ts";
import { lifetimeOf, type Span } from "./lifetime.ts";
import "./expiry-bar.css";

/** Shrinks as time goes by; the mark is where a newer one is due. Ticks by itself, so that its table need not. */
export function ExpiryBar({ span }: { readonly span: Span }) {
  const { spent, refresh, tone, text } = lifetimeOf(span, useNow());
  return (
    <span className="expiry" data-tone={tone}>
      <span className="expiry-bar" aria-hidden="true">
        <span className="expiry-left" style={{ inlineSize: `${(1 - spent) * 100}%` }} />
        <span className="expiry-due" style={{ insetInlineStart: `${(1 - refresh) * 100}%` }} />
      </span>
      <time className="numbers" dateTime={span.expires_at} title={dateTimeText(span.expires_at)}>
        {text}
      </time>
    </span>
  );
}
