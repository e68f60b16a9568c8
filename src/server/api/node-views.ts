/** Nodes as operators see them: the row, its profiles with their versions, its newest heartbeat and its certificate. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { claimedProgram, contactOf } from "../../core/health/claim.ts";
import { NodeId } from "../../core/ids.ts";
import type { NodeState, ProgramReport } from "../../core/protocol/agent-api.ts";
import { copySeenMs, type SpeakingAgent } from "../../core/incident/copied-identity.ts";
import { NodeView } from "../../core/protocol/operator-api.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { Page } from "./ports.ts";

export interface NodeFilter extends Page {
  readonly chain_profile_id?: string;
  readonly node_type?: string;
  readonly binary_version?: string;
}

const After = z.strictObject({ name: z.string().max(253), id: NodeId });

export async function listNodes(
  db: Database,
  filter: NodeFilter,
): Promise<{ nodes: NodeView[]; next_cursor: string | null }> {
  const { chain_profile_id, node_type, binary_version, limit, cursor } = filter;
  const after = cursor === undefined ? null : decodeCursor(cursor, After);
  const rows = await db<NodeRow[]>`
    ${selectNodes(db)}
    where true
      ${after === null ? db`` : db`and (n.name, n.id) > (${after.name}, ${after.id}::uuid)`}
      ${node_type === undefined ? db`` : db`and n.node_type = ${node_type}`}
      ${chain_profile_id === undefined && binary_version === undefined ? db`` : db`and ${hasProfile(db, filter)}`}
    order by n.name, n.id limit ${limit + 1}`;
  const nodes = rows.slice(0, limit).map(nodeView);
  const last = rows.length > limit ? nodes.at(-1) : undefined;
  return { nodes, next_cursor: last === undefined ? null : encodeCursor({ name: last.name, id: last.id }) };
}

export async function getNode(db: Database, id: NodeId): Promise<NodeView> {
  const [row] = await db<NodeRow[]>`${selectNodes(db)} where n.id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  return nodeView(row);
}

/** The version is that of the profile: a node is not listed for the version of another of its programs. */
const hasProfile = (db: Database, { chain_profile_id, binary_version }: NodeFilter) => db`
  exists (
    select 1 from node_profiles p
    left join node_config_state c on c.node_id = p.node_id and c.chain_profile_id = p.chain_profile_id
    where p.node_id = n.id
      ${chain_profile_id === undefined ? db`` : db`and p.chain_profile_id = ${chain_profile_id}`}
      ${binary_version === undefined ? db`` : db`and c.binary_version = ${binary_version}`})`;

const selectNodes = (db: Database) => db`
  select clock_timestamp() as read_at, n.id, n.name, s.state, profiles.profiles, n.node_type, n.roles, n.labels,
         n.enrolled_at, n.revoked_at, n.replaces, pending.pending, (select s.id from nodes s where s.replaces = n.id) as replaced_by,
         hb.received_at, hb.agent_version, hb.programs, hb.applied, hb.last_rejection,
         case when hb.instance_returns[2] > clock_timestamp() - ${copySeenMs} * interval '1 millisecond'
           then hb.instances else '[]' end as copies,
         (select max(c.not_after) from node_certificates c where c.node_id = n.id and c.revoked_at is null) as not_after
  from nodes n
  left join node_heartbeats hb on hb.node_id = n.id
  join shown_states s on s.node_id = n.id
  left join lateral (
    select jsonb_agg(jsonb_build_object('chain_profile_id', p.chain_profile_id, 'state', p.state,
      'binary_version', c.binary_version) order by p.chain_profile_id) as profiles
    from node_profiles p
    left join node_config_state c on c.node_id = p.node_id and c.chain_profile_id = p.chain_profile_id
    where p.node_id = n.id
  ) profiles on true
  left join lateral (
    select jsonb_build_object('since', to_json(u.used_at), 'key_id', u.key_hash, 'host', u.host, 'address', u.address,
      'enrollment_key', k.name) as pending
    from enrollment_key_uses u join enrollment_keys k on k.id = u.enrollment_key_id
    where u.node_id = n.id and u.approved_at is null and n.revoked_at is null
  ) pending on true`;

interface PendingRow {
  readonly since: string;
}

interface NodeRow {
  /** By the clock that stamps heartbeats: an age is the difference of two times of one clock. */
  readonly read_at: Date;
  readonly id: string;
  readonly name: string;
  readonly state: NodeState;
  readonly profiles: unknown;
  readonly node_type: string;
  readonly roles: string[];
  readonly labels: unknown;
  readonly enrolled_at: Date | null;
  readonly revoked_at: Date | null;
  readonly pending: PendingRow | null;
  readonly replaces: string | null;
  readonly replaced_by: string | null;
  readonly copies: readonly SpeakingAgent[];
  readonly received_at: Date | null;
  readonly agent_version: string | null;
  readonly programs: readonly ProgramReport[] | null;
  readonly applied: unknown;
  readonly last_rejection: unknown;
  readonly not_after: Date | null;
}

function nodeView(row: NodeRow): NodeView {
  const { received_at } = row;
  const heard = {
    state: row.state,
    isEnrolled: row.enrolled_at !== null,
    isRevoked: row.revoked_at !== null,
    heardAt: received_at?.getTime() ?? null,
  };
  const contact = contactOf(heard, row.read_at.getTime());
  return NodeView.parse({
    id: row.id,
    name: row.name,
    state: row.state,
    contact,
    profiles: row.profiles ?? [],
    node_type: row.node_type,
    roles: row.roles,
    labels: row.labels,
    enrolled: row.enrolled_at !== null,
    pending:
      row.pending === null ? null : { ...row.pending, since: new Date(row.pending.since).toISOString() },
    revoked_at: row.revoked_at?.toISOString() ?? null,
    replaces: row.replaces,
    replaced_by: row.replaced_by,
    copies: row.copies.map(({ heard_at, follows: _follows, ...agent }) => ({
      ...agent,
      heard_at: heard_at === undefined ? null : new Date(heard_at).toISOString(),
    })),
    last_heartbeat_at: row.received_at?.toISOString() ?? null,
    agent_version: row.agent_version,
    programs:
      received_at === null
        ? []
        : (row.programs ?? []).map((program) => claimedProgram(program, contact, received_at.toISOString())),
    applied: row.applied ?? {},
    last_rejection: row.last_rejection ?? null,
    certificate_expires_at: row.not_after?.toISOString() ?? null,
  });
}
