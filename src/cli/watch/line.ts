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

function describe(event: EventView, facts: LineFacts): string {
  const { batchCount, nameOf } = facts;
  const known = knownEvent(event);
  switch (known.kind) {
    case "rollout.status":
      return `rollout ${known.from} → ${known.to}${byText(event.actor)}${whyText(known.why)}`;
    case "rollout.batch":
      return `batch ${known.batch + 1}${batchCount === null ? "" : ` of ${batchCount}`} begins`;
    case "rollout.signal": {
      const reason = known.reason == null ? "" : `: ${known.reason}`;
      return `signal ${known.signal}${byText(known.actor ?? event.actor)} ${known.applied ? "applied" : "had no effect"}${reason}`;
    }
    case "node.upgrade": {
      const { status, phase, action, waitingFor } = known;
      const doing = waitingFor === undefined ? action : `waiting for ${waitingFor}`;
      const words = isSettled(status) ? [status] : [status, phase, doing].filter((word) => word !== null);
      return `node ${nameOf(known.nodeId)} ${words.join(" ")}${whyText(known.error)}`;
    }
    case "node.silence":
    case "other":
      return otherText(event, facts);
    default:
      return unreachable(known);
  }
}

/** Data that names the subject of an event, in the order in which a line shows it. */
const SUBJECTS = ["resource", "kind", "name", "subject", "key", "scope", "title", "code"] as const;

/** Kinds without words of their own here, those of a newer server included: subject, change, who and why. */
function otherText({ kind, node_id, actor, data }: EventView, { nameOf }: LineFacts): string {
  const word = (name: string): string | null => (typeof data[name] === "string" ? data[name] : null);
  const [from, to, reason] = [word("from"), word("to"), word("reason") ?? word("note")];
  const words = [
    kind.replace(".", " "),
    node_id === null ? null : nameOf(node_id),
    ...SUBJECTS.map(word),
    from === null || to === null ? null : `${from} → ${to}`,
  ];
  const text = [...new Set(words.filter((each) => each !== null))].join(" ");
  return `${text}${byText(actor)}${reason === null ? "" : `: ${reason}`}`;
}

const byText = (actor: string | null): string => (actor === null ? "" : ` by ${actor}`);

const whyText = (why: Why | null | undefined): string => (why == null ? "" : `  ${why.code}: ${why.text}`);
