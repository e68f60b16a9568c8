/** What each node that counts has confirmed: the bundle it holds, and whose snapshots it has applied (SNAP-8, SNAP-13). */
import type { NodeStanding } from "../../core/keys/standing.ts";
import type { Queryable } from "../db/database.ts";

/**
 * A scope is behind while the version that the node reports was not signed by the active key. History holds the versions
 * before the newest, so that a node one step back under load is not behind for that.
 */
export const readNodeStandings = (db: Queryable): Promise<NodeStanding[]> => db<NodeStanding[]>`
  with active as (
    select key_id, changed_at from signing_keys where authority = 'online' and state = 'active'
  ), published as (
    select node_id, scope_type, authority_epoch, config_version, signer_key_id from snapshots
    union all
    select node_id, scope_type, authority_epoch, config_version, convert_from(header, 'UTF8')::jsonb->>'signer_key_id'
    from snapshot_history
  )
  select n.id, n.name, (hb.applied->'trust_bundle'->>'version')::bigint as bundle_version,
    array(
      select s.scope_type from snapshots s
      where s.node_id = n.id and not exists (
        select 1 from published p join active a on a.key_id = p.signer_key_id
        where p.node_id = s.node_id and p.scope_type = s.scope_type
          and p.authority_epoch = (hb.applied->s.scope_type->>'epoch')::bigint
          and p.config_version = (hb.applied->s.scope_type->>'version')::bigint)
      union all
      select 'command' from commands c, active a
      where c.node_id = n.id and c.answered_at is null and c.expires_at > now() and c.created_at < a.changed_at
      group by 1
      order by 1
    ) as behind
  from nodes n left join node_heartbeats hb on hb.node_id = n.id
  where n.enrolled_at is not null and n.revoked_at is null
  order by n.name`;
