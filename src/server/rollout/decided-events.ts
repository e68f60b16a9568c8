/** A decision's events as rows. Those of a component bear its group as well, so that a group can be watched whole. */
import type { RolloutId } from "../../core/ids.ts";
import type { Json } from "../../core/json.ts";
import type { GroupId } from "../../core/protocol/group-api.ts";
import type { DecidedEvent, Launch } from "../../core/rollout/decision.ts";
import type { NewEvent } from "../events/append.ts";

interface Subject {
  readonly id: RolloutId;
  readonly groupId: GroupId | null;
}

export const eventsOf = (
  subject: Subject,
  events: readonly DecidedEvent[],
  opened: readonly Launch[],
): NewEvent[] => [
  ...events.map((event) => eventRow(subject, event)),
  ...opened.map((launch) => launchEvent(subject, launch)),
];

function eventRow({ id, groupId }: Subject, event: DecidedEvent): NewEvent {
  const { kind, ...data } = event;
  const base = { kind, rollout_id: id, group_id: groupId, data: data as unknown as Json };
  if (event.kind === "node.upgrade" || event.kind === "node.report")
    return { ...base, node_id: event.nodeId };
  if (event.kind === "rollout.signal") return { ...base, actor: event.actor, node_id: event.nodeId };
  return base;
}

const launchEvent = ({ id, groupId }: Subject, launch: Launch): NewEvent => ({
  kind: "node.upgrade",
  rollout_id: id,
  group_id: groupId,
  node_id: launch.nodeId,
  data: {
    status: "in_progress",
    phase: "PREPARING",
    action: null,
    error: null,
    direction: launch.direction,
    attempt: launch.attempt,
  },
});
