/**
 * The messages of a page of events, in the events' order.
 *
 * 1. A rollout's progress is told once for the whole page, as it stands: a thousand nodes that end together are one
 *    message, and pages are read once a second at most.
 * 2. An id names the site, the event and what is told of it: a stream that sees it twice keeps one.
 */
import type { Json } from "../../core/json.ts";
import type { StoredEvent } from "../../core/notify/notifications.ts";
import {
  incidentSubjectOf,
  nodeSubject,
  nodeSubjectOf,
  rolloutSubject,
  rolloutSubjectOf,
} from "../../core/notify/subjects.ts";
import type { Transaction } from "../db/database.ts";
import { incidentIdOf, incidentSummaries, rolloutSummaries, type Summaries } from "./summaries.ts";

export interface NatsMessage {
  readonly id: string;
  readonly subject: string;
  readonly body: Json;
}

export async function messagesOf(
  tx: Transaction,
  clusterId: string,
  events: readonly StoredEvent[],
): Promise<NatsMessage[]> {
  const told = events.filter((event) => event.rollout_id !== null && rolloutSubjectOf(event) !== null);
  const rollouts = await rolloutSummaries(tx, [...new Set(told.map((event) => event.rollout_id!))]);
  const phases = await previousPhases(tx, events);
  const incidents = await incidentSummaries(tx, [
    ...new Set(events.flatMap((event) => incidentIdOf(event) ?? [])),
  ]);
  const lastProgress = new Map(
    told
      .filter((event) => rolloutSubjectOf(event) === "progress")
      .map((event) => [event.rollout_id!, event.id]),
  );
  return events.flatMap((event) => [
    ...nodeMessage(clusterId, event, phases.get(event.id) ?? null),
    ...rolloutMessage(clusterId, event, rollouts, lastProgress),
    ...incidentMessage(clusterId, event, incidents),
  ]);
}

function nodeMessage(clusterId: string, event: StoredEvent, previousPhase: string | null): NatsMessage[] {
  const what = nodeSubjectOf(event, previousPhase);
  if (what === null || event.node_id === null) return [];
  const { nodeId: _, ...data } = event.data;
  const body = {
    type: what,
    event_id: event.id,
    timestamp: new Date(event.at).toISOString(),
    node_id: event.node_id,
    rollout_id: event.rollout_id,
    previous_phase: previousPhase,
    ...(data as { [key: string]: Json }),
  };
  return [{ id: `${clusterId}:${event.id}`, subject: nodeSubject(event.node_id, what), body }]; // (2)
}

function rolloutMessage(
  clusterId: string,
  event: StoredEvent,
  rollouts: Summaries,
  lastProgress: ReadonlyMap<string, number>,
): NatsMessage[] {
  const what = rolloutSubjectOf(event);
  if (what === null || event.rollout_id === null) return [];
  if (what === "progress" && lastProgress.get(event.rollout_id) !== event.id) return []; // (1)
  const moved =
    event.kind === "rollout.status"
      ? { status: event.data["to"] as string, why: event.data["why"] as Json }
      : {};
  const body = {
    type: what,
    event_id: event.id,
    timestamp: new Date(event.at).toISOString(),
    rollout: { id: event.rollout_id, ...rollouts.get(event.rollout_id), ...moved },
  };
  const id = `${clusterId}:${event.id}:${what}`; // (2)
  return [{ id, subject: rolloutSubject(event.rollout_id, what), body }];
}

function incidentMessage(clusterId: string, event: StoredEvent, incidents: Summaries): NatsMessage[] {
  const subject = incidentSubjectOf(event);
  if (subject === null) return [];
  const { kind, at, id } = event;
  const body = {
    type: kind.replace(".", "_"),
    event_id: id,
    timestamp: new Date(at).toISOString(),
    incident: incidents.get(incidentIdOf(event) ?? "") ?? null,
  };
  return [{ id: `${clusterId}:${id}:incident`, subject, body }]; // (2)
}

async function previousPhases(
  tx: Transaction,
  events: readonly StoredEvent[],
): Promise<ReadonlyMap<number, string | null>> {
  const ids = events.filter(({ kind }) => kind === "node.upgrade").map(({ id }) => id);
  if (ids.length === 0) return new Map();
  const rows = await tx<{ id: number; phase: string | null }[]>`
    select e.id, p.phase from events e left join lateral (
      select b.data->>'phase' as phase from events b
      where b.node_id = e.node_id and b.id < e.id and b.kind = 'node.upgrade'
        and b.rollout_id is not distinct from e.rollout_id
      order by b.id desc limit 1) p on true
    where e.id = any(${ids})`;
  return new Map(rows.map((row) => [row.id, row.phase]));
}
