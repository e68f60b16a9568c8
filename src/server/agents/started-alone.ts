/**
 * Programs that a node started without the control plane (SNAP-9), told when it is back: an event for each start, and an
 * incident where the authority of what was started had expired. A start is told once, however often it is reported.
 */
import { startedAloneText } from "../../core/degraded/started-alone-text.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import type { IncidentDraft } from "../../core/incident/draft.ts";
import type { Heartbeat } from "../../core/protocol/agent-api.ts";
import type { Database } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { raiseIncidents } from "../incidents/raise.ts";

interface Start {
  readonly node_id: NodeId;
  readonly chain_profile_id: ProfileId;
  readonly at: string;
  readonly expired_since: string | null;
}

export async function tellStartsAlone(
  db: Database,
  reported: readonly { readonly nodeId: NodeId; readonly heartbeat: Heartbeat }[],
  now: number,
): Promise<void> {
  const starts = reported.flatMap(({ nodeId, heartbeat }) =>
    heartbeat.programs.flatMap(({ chain_profile_id, started_alone }): Start[] =>
      started_alone === undefined ? [] : [{ node_id: nodeId, chain_profile_id, ...started_alone }],
    ),
  );
  if (starts.length === 0) return; // nearly always: nothing is asked of the database
  await db.begin(async (tx) => {
    const untold = await tx<(Start & { readonly name: string })[]>`
      select s.node_id, s.chain_profile_id, s.at, s.expired_since, n.name
      from jsonb_to_recordset(${tx.json(starts as never)}) as s(node_id uuid, chain_profile_id text, at text,
        expired_since text)
      join nodes n on n.id = s.node_id
      where not exists (select 1 from events e where e.node_id = s.node_id and e.kind = 'node.started_alone'
        and e.data->>'chain_profile_id' = s.chain_profile_id and e.data->>'at' = s.at)
      order by s.node_id`;
    const expired = untold.filter(({ expired_since }) => expired_since !== null);
    await raiseIncidents(tx, null, expired.map(incidentOf), now);
    await appendEvents(
      tx,
      untold.map(({ node_id, chain_profile_id, at, expired_since }) => ({
        kind: "node.started_alone",
        node_id,
        data: { chain_profile_id, at, expired_since },
      })),
    );
  });
}

const incidentOf = ({ name, ...start }: Start & { readonly name: string }): IncidentDraft => ({
  category: "started_on_expired_authority",
  severity: "warning",
  nodeId: start.node_id,
  title: `${name}: ${start.chain_profile_id} was ${startedAloneText(start)}`,
  detail: { chain_profile_id: start.chain_profile_id, at: start.at, expired_since: start.expired_since },
  recoveryPlan:
    "The node was on its own and started what it last ran. If that program should still run, resolve this incident. " +
    "To forbid such starts, set restart_after_expiry: never in a degraded_mode policy.",
});
