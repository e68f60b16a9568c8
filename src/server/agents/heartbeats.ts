/**
 * Heartbeats become rows in batches: one statement for all that came within a few milliseconds.
 *
 * 1. Most say what the one before said. Such a one moves the row's time and nothing else, and only while the row still
 *    holds that content: another replica, or a report, may have written since.
 * 2. A replica that hung may store one late: what the node measured before is not written over what it measured after.
 *    A node whose clock was set back is believed again after a while.
 * 3. One that overtook a report is newer than what that brings, and older than its arrival: its row's time moves. Otherwise
 *    a node that is well would wait for its next heartbeat to be found so. It has to speak of the same instances: where a
 *    clock was set back, what seems newer may be from before the upgrade.
 * 4. An agent that was followed by another one and speaks again is noted with the time: two machines hold one key.
 */
import type { NodeId } from "../../core/ids.ts";
import type { Heartbeat } from "../../core/protocol/agent-api.ts";
import type { Database, Queryable } from "../db/database.ts";
import { createBatcher } from "./batcher.ts";
import type { ReceivedHeartbeat } from "./heartbeat-body.ts";
import { tellStartsAlone } from "./started-alone.ts";

export interface NodeHeartbeat {
  readonly nodeId: NodeId;
  /** Where it came from, as far as that is known. */
  readonly address?: string | null;
  readonly heartbeat: Heartbeat;
  readonly digest: string | null;
}

/** Without a heartbeat: the node's last one again. */
type Item = ReceivedHeartbeat & { readonly heartbeat: Heartbeat | null };

/** Less than a health check waits for a heartbeat. */
const CLOCK_SET_BACK_SECONDS = 30;

/** Settles when the row is durable; refuses what is no heartbeat. */
export type StoreHeartbeat = (received: ReceivedHeartbeat) => Promise<void>;

export function createHeartbeatStore(db: Database, onStored: (count: number) => void): StoreHeartbeat {
  const stored = new Map<NodeId, string | null>();
  const provisioned = new Map<NodeId, string>();
  const store = createBatcher<Item, void>(
    async (items) => {
      const newest = [...new Map(items.map((item) => [item.nodeId, item])).values()];
      const changed = await touchUnchanged(db, newest);
      if (changed.length > 0) {
        await upsertHeartbeats(db, changed);
        await recordProvisioned(
          db,
          changed.filter(({ nodeId, heartbeat }) => provisioned.get(nodeId) !== programsOf(heartbeat)),
        );
        for (const { nodeId, digest, heartbeat } of changed) {
          stored.set(nodeId, digest);
          provisioned.set(nodeId, programsOf(heartbeat));
        }
        await tellStartsAlone(db, changed, Date.now());
      }
      onStored(items.length);
      return items.map(() => undefined);
    },
    { itemsMax: 200, lingerMs: 50, concurrentMax: 2 },
  );
  return async (received) => {
    const isLastAgain = received.digest !== null && stored.get(received.nodeId) === received.digest;
    return store({ ...received, heartbeat: isLastAgain ? null : received.read() });
  };
}

/** Answers with what has to be written whole. */
async function touchUnchanged(db: Queryable, items: readonly Item[]): Promise<readonly NodeHeartbeat[]> {
  const unchanged = items.filter(({ heartbeat }) => heartbeat === null);
  const isTouched = unchanged.length === 0 || (await touch(db, unchanged)) === unchanged.length;
  return (isTouched ? items.filter(({ heartbeat }) => heartbeat !== null) : items).map((item) => ({
    nodeId: item.nodeId,
    address: item.address ?? null,
    digest: item.digest,
    heartbeat: item.heartbeat ?? item.read(),
  }));
}

/** Locks in the order of the ids, as the upsert does: two batches that share nodes cannot wait in a circle. */
async function touch(db: Queryable, items: readonly Item[]): Promise<number> {
  const { count } = await db`
    with held as materialized (
      select h.node_id from node_heartbeats h
      join unnest(${items.map(({ nodeId }) => nodeId)}::uuid[], ${items.map(({ digest }) => digest)}::text[])
        as t(node_id, digest) on h.node_id = t.node_id and h.content_digest = t.digest
      order by h.node_id for no key update of h)
    update node_heartbeats h set received_at = clock_timestamp() from held where h.node_id = held.node_id`; // (1)
  return count;
}

/** How many were written. Ordered by id, so that two batches that share nodes cannot wait for each other in a circle. */
export async function upsertHeartbeats(db: Queryable, items: readonly NodeHeartbeat[]): Promise<number> {
  const ordered = items.toSorted((a, b) => (a.nodeId < b.nodeId ? -1 : 1));
  const column = (pick: (item: NodeHeartbeat) => string | null) => ordered.map(pick);
  const { count } = await db`
    insert into node_heartbeats as newest
      (node_id, received_at, measured_at, agent_version, applied, programs, last_rejection, content_digest, instances)
    select node_id, clock_timestamp(), measured_at, agent_version, applied::jsonb, programs::jsonb, last_rejection::jsonb, digest, instances::jsonb
    from unnest(
      ${column((item) => item.nodeId)}::uuid[],
      ${column((item) => item.heartbeat.at)}::text[]::timestamptz[],
      ${column((item) => item.heartbeat.agent_version)}::text[],
      ${column((item) => JSON.stringify(item.heartbeat.applied))}::text[],
      ${column((item) => JSON.stringify(item.heartbeat.programs))}::text[],
      ${column((item) => (item.heartbeat.last_rejection === null ? null : JSON.stringify(item.heartbeat.last_rejection)))}::text[],
      ${column((item) => item.digest)}::text[],
      ${column(instancesOf)}::text[]
    ) as t(node_id, measured_at, agent_version, applied, programs, last_rejection, digest, instances)
    on conflict (node_id) do update set received_at = excluded.received_at, measured_at = excluded.measured_at,
      agent_version = excluded.agent_version, applied = excluded.applied, programs = excluded.programs,
      last_rejection = excluded.last_rejection, content_digest = excluded.content_digest,
      instances = case
        when excluded.instances = '[]' or excluded.instances->0->'id' = newest.instances->0->'id' then newest.instances
        else next_instances(newest.instances, excluded.instances->0) end,
      instance_returns = case
        when excluded.instances->0->'id' = newest.instances->0->'id'
          or not newest.instances @> jsonb_build_array(jsonb_build_object('id', excluded.instances->0->'id'))
        then newest.instance_returns
        else (clock_timestamp() || newest.instance_returns)[1:2] end -- (4)
    where excluded.measured_at >= newest.measured_at
      or newest.received_at < clock_timestamp() - make_interval(secs => ${CLOCK_SET_BACK_SECONDS})`; // (2)
  return count;
}

const instancesOf = ({ heartbeat: { instance }, address }: NodeHeartbeat): string =>
  JSON.stringify(instance === undefined ? [] : [{ ...instance, address: address ?? null }]);

/** That came with reports, in their transaction. */
export async function upsertReported(tx: Queryable, items: readonly NodeHeartbeat[]): Promise<void> {
  if ((await upsertHeartbeats(tx, items)) === items.length) return;
  const programs = items.map(({ heartbeat }) => JSON.stringify(heartbeat.programs));
  await tx`
    update node_heartbeats h set received_at = clock_timestamp()
    from unnest(${items.map(({ nodeId }) => nodeId)}::uuid[], ${programs}::text[]) as r(node_id, programs)
    where h.node_id = r.node_id
      and jsonb_path_query_array(h.programs, '$[*].instance_id', '{}', true)
        = jsonb_path_query_array(r.programs::jsonb, '$[*].instance_id', '{}', true)
      and jsonb_path_query_array(h.programs, '$[*].running_fingerprint', '{}', true)
        = jsonb_path_query_array(r.programs::jsonb, '$[*].running_fingerprint', '{}', true)`; // (3)
}

/** The programs that have a version to record: a program that joins later is provisioned as well. */
const programsOf = ({ programs }: Heartbeat): string =>
  programs.flatMap(({ chain_profile_id, version }) => (version === null ? [] : [chain_profile_id])).join(" ");

/** The provisioned version of a program, taken from its first heartbeat and never again (ROLL-21). */
async function recordProvisioned(db: Queryable, items: readonly NodeHeartbeat[]): Promise<void> {
  const rows = items.flatMap(({ nodeId, heartbeat }) =>
    heartbeat.programs
      .filter((program) => program.version !== null)
      .map((program) => ({
        node_id: nodeId,
        profile: program.chain_profile_id,
        version: program.version,
        fingerprint: program.installed_fingerprint,
      })),
  );
  if (rows.length === 0) return;
  await db`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select p.node_id, p.profile, p.version, p.fingerprint
    from jsonb_to_recordset(${db.json(rows)}) as p(node_id uuid, profile text, version text, fingerprint text)
    join node_profiles np on np.node_id = p.node_id and np.chain_profile_id = p.profile
    on conflict do nothing`;
}
