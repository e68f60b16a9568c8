/**
 * What happened, who did it and why, newest first.
 *
 * 1. Only what an operator would tell a colleague: a node's phases are in its cell, not here.
 * 2. Successes in a row are one entry, so a batch of 500 does not bury the failure in it.
 * 3. An entry keeps the id of its first event: it is updated in place, never drawn anew.
 */
import { isSettled, type SignalKind } from "../../../core/rollout/states.ts";
import type { FleetEvent } from "../../api/events.ts";
import { ROLLOUT_LOOKS, UPGRADE_LOOKS, type Tone } from "../../ui/tones.ts";

export interface TimelineEntry {
  readonly id: number;
  readonly at: string;
  readonly tone: Tone;
  readonly title: string;
  readonly who: string | null;
  readonly why: string | null;
  /** Nodes that the entry is about; the page knows their names. */
  readonly nodeIds: readonly string[];
}

const ENTRIES_MAX = 300;
const ASKED = {
  start: "Start",
  pause: "Pause",
  resume: "Resume",
  cancel: "Cancel",
  force: "Force",
  approve_canary: "Approval of the canary",
  rollback: "Rollback",
  retry: "Retry",
  skip: "Skip",
  give_up: "Give-up",
} as const satisfies Record<SignalKind, string>;

export function extendTimeline(
  timeline: readonly TimelineEntry[],
  events: readonly FleetEvent[],
): readonly TimelineEntry[] {
  const newest = [...timeline];
  for (const event of events) {
    const entry = entryOf(event);
    if (entry === null) continue;
    const last = newest[0];
    if (last !== undefined && isSuccess(entry) && isSuccess(last)) newest[0] = merge(last, entry);
    else newest.unshift(entry);
  }
  return newest.slice(0, ENTRIES_MAX);
}

const SUCCESS = UPGRADE_LOOKS.succeeded.label;
const isSuccess = (entry: TimelineEntry): boolean => entry.nodeIds.length > 0 && entry.title === SUCCESS;
const merge = (into: TimelineEntry, entry: TimelineEntry): TimelineEntry => ({
  ...into, // 3
  at: entry.at,
  nodeIds: [...into.nodeIds, ...entry.nodeIds],
});

function entryOf(event: FleetEvent): TimelineEntry | null {
  const base = { id: event.id, at: event.at, who: event.actor, why: null, nodeIds: [] };
  switch (event.kind) {
    case "rollout.created":
      return { ...base, tone: "neutral", title: "Created" };
    case "rollout.status": {
      const { tone, label } = ROLLOUT_LOOKS[event.data.to];
      return { ...base, tone, title: label, why: event.data.why?.text ?? null };
    }
    case "rollout.batch":
      return {
        ...base,
        tone: "info",
        title: `Batch ${event.data.batch + 1} ${event.data.direction === "reverse" ? "goes back" : "began"}`,
      };
    case "rollout.signal": {
      const { signal, actor, reason, applied } = event.data;
      const title = `${ASKED[signal]} ${applied ? "requested" : "requested too late: not applied"}`;
      return { ...base, tone: applied ? "neutral" : "warn", title, who: actor, why: reason };
    }
    case "rollout.intent_voided":
      return { ...base, tone: "neutral", title: "Signed intent called off", why: event.data.reason };
    case "node.silent":
      if (event.nodeId === null) return null;
      return { ...base, tone: "warn", title: "Silent", why: event.data.reason, nodeIds: [event.nodeId] };
    case "node.heard":
      if (event.nodeId === null) return null;
      return { ...base, tone: "neutral", title: "Heard again", nodeIds: [event.nodeId] };
    case "node.upgrade": {
      const { status, error } = event.data;
      if (event.nodeId === null || (!isSettled(status) && error === null)) return null; // 1
      const { tone, label } = isSettled(status)
        ? UPGRADE_LOOKS[status]
        : ({ tone: "warn", label: "In trouble" } as const);
      const why = error === null ? null : `${error.code}: ${error.text}`;
      return { ...base, tone, title: label, why, nodeIds: [event.nodeId] };
    }
    case "incident.opened":
      return { ...base, tone: "bad", title: "Incident opened", why: event.data.title };
    case "group.status":
    case "group.component":
    case "group.signal":
    case "incident.acknowledged":
    case "incident.resolved":
    case "node.state":
    case "node.pending":
    case "node.approved":
    case "node.enrolled":
    case "node.revoked":
    case "node.rejection":
    case "node.membership":
    case "node.profile.added":
    case "node.profile.removed":
    case "model.changed":
    case "authority.revoked":
    case "authority.restored":
      return null;
  }
}
