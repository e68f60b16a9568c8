/** An event as one plain line, the same for every reader and every run: for logs and for `grep`. */
import { unreachable } from "../../core/errors.ts";
import type { EventView } from "../../core/protocol/operator-api.ts";
import { isSettled } from "../../core/rollout/states.ts";
import { knownEvent, type Why } from "../events/data.ts";
import { printable } from "../output.ts";

export interface LineFacts {
  /** Null where events of several rollouts are told. */
  readonly batchCount: number | null;
  readonly nameOf: (nodeId: string) => string;
}

export const eventLine = (event: EventView, facts: LineFacts): string =>
  printable(`${event.at} ${describe(event, facts)}`);

function describe(event: EventView, { batchCount, nameOf }: LineFacts): string {
  const known = knownEvent(event);
  switch (known.kind) {
    case "rollout.status":
      return `rollout ${known.from} → ${known.to}${whyText(known.why)}`;
    case "rollout.batch":
      return `batch ${known.batch + 1}${batchCount === null ? "" : ` of ${batchCount}`} begins`;
    case "rollout.signal": {
      const who = known.actor == null ? "" : ` by ${known.actor}`;
      const reason = known.reason == null ? "" : `: ${known.reason}`;
      return `signal ${known.signal}${who} ${known.applied ? "applied" : "had no effect"}${reason}`;
    }
    case "node.upgrade": {
      const { status, phase, action } = known;
      const words = isSettled(status) ? [status] : [status, phase, action].filter((word) => word !== null);
      return `node ${nameOf(known.nodeId)} ${words.join(" ")}${whyText(known.error)}`;
    }
    case "other":
      return otherText(event);
    default:
      return unreachable(known);
  }
}

/** Kinds that have no words of their own here, a newer server's among them: what they carry that people read. */
function otherText({ kind, actor, data }: EventView): string {
  const word = (name: string): string | null => (typeof data[name] === "string" ? data[name] : null);
  const [from, to, title] = [word("from"), word("to"), word("title")];
  return [
    kind.replace(".", " "),
    ...(from === null || to === null ? [] : [`${from} → ${to}`]),
    ...(title === null ? [] : [title]),
    ...(actor === null ? [] : [`by ${actor}`]),
  ].join(" ");
}

const whyText = (why: Why | null | undefined): string => (why == null ? "" : `  ${why.code}: ${why.text}`);
