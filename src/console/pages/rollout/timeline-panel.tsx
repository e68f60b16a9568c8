/** The timeline scrolls in its own box: what comes in on top pushes nothing else on the page. */
import { memo } from "react";
import { useConnection } from "../../api/connection.ts";
import type { StreamState } from "../../api/event-stream.ts";
import { clockText, dateTimeText } from "../../ui/time-text.ts";
import type { TimelineEntry } from "./timeline.ts";

interface Props {
  readonly entries: readonly TimelineEntry[];
  readonly names: ReadonlyMap<string, string>;
}

/** Every rollout has the event of its creation: an empty timeline is one that was not read yet. */
const EMPTY: Record<StreamState, string> = {
  connecting: "Reading the timeline…",
  live: "Reading the timeline…",
  lost: "No connection to the server: the timeline is read when it is back.",
};

export const Timeline = memo(function Timeline({ entries, names }: Props) {
  const connection = useConnection();
  return (
    <div className="panel timeline">
      <div className="panel-head">
        <h2 id="timeline-heading">Timeline</h2>
      </div>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a box that scrolls must be reachable by keyboard */}
      <section className="timeline-scroll" tabIndex={0} aria-labelledby="timeline-heading">
        {entries.length === 0 ? <p className="panel-note muted">{EMPTY[connection]}</p> : null}
        <ol>
          {entries.map((entry) => (
            <li key={entry.id} data-tone={entry.tone}>
              <time className="numbers" dateTime={entry.at} title={dateTimeText(entry.at)}>
                {clockText(entry.at)}
              </time>
              <div>
                <p className="timeline-title">{titleOf(entry, names)}</p>
                {entry.why === null ? null : <p className="timeline-why">{entry.why}</p>}
                {entry.who === null ? null : <p className="muted">by {entry.who}</p>}
              </div>
            </li>
          ))}
        </ol>
      </section>
    </div>
  );
});

function titleOf({ title, nodeIds }: TimelineEntry, names: ReadonlyMap<string, string>): string {
  if (nodeIds.length === 0) return title;
  if (nodeIds.length > 1) return `${nodeIds.length} nodes: ${title.toLowerCase()}`;
  return `${names.get(nodeIds[0]!) ?? "a node"}: ${title.toLowerCase()}`;
}
