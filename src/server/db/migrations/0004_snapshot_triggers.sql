-- A change of the model says by itself whose snapshots it touches (SNAP-3): in its own transaction, from the changed
-- rows, for all of them at once. What is marked is compiled again; content that comes out the same is not published.

alter table nodes drop column assignment_version;
-- Where agents reach the replicas, as the replicas themselves say at their start.
alter table clusters add column refresh_endpoints text[] not null default '{}';

alter table policies drop constraint policies_kind_check;
alter table policies add constraint policies_kind_check
  check (kind in ('route', 'qos', 'degraded_mode', 'client_entry', 'token_trust', 'sessions'));
create index policies_by_organization on policies (organization_id);

-- Append-only: a writer never waits for another writer nor for the loop that reads, and no mark that comes while a node
-- is compiled is swallowed by an older one.
drop table snapshot_dirty;
create table snapshot_dirty (
  seq         bigint generated always as identity primary key,
  node_id     uuid not null,
  scope_type  varchar(40) not null,
  -- Published anew even if the content is the same: keys or the epoch changed.
  force       boolean not null default false,
  since       timestamptz not null default clock_timestamp()
);
create index snapshot_dirty_by_node on snapshot_dirty (node_id, scope_type);

-- What the compiler would not sign: the newest refusal, until a later compilation succeeds.
create table snapshot_refusals (
  node_id     uuid not null references nodes on delete cascade,
  scope_type  varchar(40) not null,
  code        varchar(64) not null,
  path        varchar(300) not null,
  message     varchar(500) not null,
  at          timestamptz not null,
  primary key (node_id, scope_type)
);

-- src/core/snapshot/roles.ts in SQL, where the triggers can read it. No role: for every node.
create table snapshot_sections (
  scope_type  varchar(40) not null,
  section     varchar(40) not null,
  roles       text[] not null,
  primary key (scope_type, section)
);
insert into snapshot_sections (scope_type, section, roles) values
  ('node_bootstrap', 'cluster', '{}'),
  ('node_bootstrap', 'membership', '{}'),
  ('node_bootstrap', 'refresh_endpoints', '{}'),
  ('node_bootstrap', 'bootstrap_peers', '{core_mesh,egress_service,storage_config,thin}'),
  ('node_runtime', 'services', '{egress_service}'),
  ('node_runtime', 'client_entry', '{ingress}'),
  ('node_runtime', 'token_trust', '{ingress}'),
  ('node_runtime', 'service_endpoints', '{ingress}'),
  ('node_runtime', 'sessions', '{thin}'),
  ('peer_directory', 'peers', '{core_mesh,storage_config}'),
  ('service_assignment', 'assignments', '{}'),
  ('route_policy', 'routes', '{core_mesh,ingress,egress_service}'),
  ('qos_policy', 'classes', '{core_mesh}'),
  ('storage_directory', 'endpoints', '{core_mesh,storage_config}'),
  ('storage_directory', 'shards', '{storage_config}'),
  ('storage_directory', 'families', '{storage_config}'),
  ('degraded_mode_policy', 'policy', '{}');

-- What a node is, as its snapshots say it: a role that was revoked is none.
create view node_authority as
  select n.id,
    array(
      select r from unnest(n.roles) as r where not exists (
        select 1 from authority_revocations v
        where v.kind = 'role_assignment' and v.subject = r and (v.node_id is null or v.node_id = n.id))
      order by r collate "C") as roles,
    array(select m.organization_id from memberships m where m.node_id = n.id order by 1) as organization_ids,
    n.enrolled_at is not null and n.revoked_at is null as present
  from nodes n;

create index nodes_core_mesh on nodes (id) where 'core_mesh' = any(roles);
create index nodes_present on nodes (id) where enrolled_at is not null and revoked_at is null;
create index authority_revocations_by_node on authority_revocations (node_id);

-- Marks ----------------------------------------------------------------------------------------------

-- Of the named nodes those that are here, in the scopes whose named sections they may hold.
create function mark_sections(named uuid[], sections text[]) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select distinct n.id, s.scope_type
  from unnest(named) as i(id) join nodes n on n.id = i.id
  join snapshot_sections s on s.section = any(sections) and (s.roles = '{}' or s.roles && n.roles)
  where n.enrolled_at is not null and n.revoked_at is null
$$;

-- Everything of the named nodes: what their roles hold, and what they held before.
create function mark_whole(named uuid[]) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select n.id, s.scope_type
  from unnest(named) as i(id) join nodes n on n.id = i.id
  join snapshot_sections s on s.roles = '{}' or s.roles && n.roles
  where n.enrolled_at is not null and n.revoked_at is null
  union
  select p.node_id, p.scope_type
  from unnest(named) as i(id) join nodes n on n.id = i.id join snapshots p on p.node_id = n.id
  where n.enrolled_at is not null and n.revoked_at is null
$$;

-- Who can be among the few peers that a node begins with.
create view core_peers as
  select n.id from nodes n
  where 'core_mesh' = any(n.roles) and n.enrolled_at is not null and n.revoked_at is null
    and exists (select 1 from peer_addresses a where a.node_id = n.id)
    and not exists (
      select 1 from authority_revocations v
      where (v.kind = 'peer' and v.subject = n.id::text and v.node_id is null)
        or (v.kind = 'role_assignment' and v.subject = 'core_mesh' and (v.node_id is null or v.node_id = n.id)));

-- Beyond this many changed core peers at once, asking for each who is near it costs more than asking everyone.
create function mark_near(changed uuid[]) returns void language sql as $$
  select mark_sections(array(
    select n.id from nodes n where cardinality(changed) > 100
    union
    -- From the third core peer before it up to the changed one, around the ring of ids (src/core/compile/peers.ts).
    select n.id
    from unnest(changed) as c(id)
    left join lateral (
      select before.id from (
        (select p.id, 1 as turn from core_peers p where p.id < c.id order by p.id desc limit 3)
        union all
        (select p.id, 2 from core_peers p where p.id > c.id order by p.id desc limit 3)
      ) before order by before.turn, before.id desc offset 2 limit 1
    ) third on true
    join nodes n on third.id is null
      or (third.id < c.id and n.id >= third.id and n.id < c.id)
      or (third.id > c.id and (n.id >= third.id or n.id < c.id))
    where cardinality(changed) <= 100
    union
    -- Who must not see one of them looks further around the ring.
    select v.node_id from authority_revocations v
    where v.kind = 'peer' and v.node_id is not null and cardinality(changed) > 0
  ), '{bootstrap_peers}')
$$;

-- Who may have one of these nodes in its directory. `peer_roles` and `organizations`: of before and after.
create function mark_directories(peer_roles text[], organizations uuid[]) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select n.id, 'peer_directory' from nodes n
  where n.enrolled_at is not null and n.revoked_at is null and (
    ('core_mesh' = any(n.roles) and ('core_mesh' = any(peer_roles)
      or exists (select 1 from memberships m where m.node_id = n.id and m.organization_id = any(organizations))))
    or ('storage_config' = any(n.roles) and peer_roles && '{core_mesh,storage_config}'))
$$;

-- What other nodes know of these, where they know of them at all: those without an address are nobody's peers.
create function mark_as_peers(named uuid[], former_roles text[]) returns void language plpgsql as $$
declare
  peers uuid[] := array(select a.node_id from unnest(named) as i(id) join peer_addresses a on a.node_id = i.id);
  peer_roles text[] := former_roles || array(
    select distinct r from unnest(peers) as i(id) join nodes n on n.id = i.id cross join unnest(n.roles) as r);
begin
  if cardinality(peers) = 0 then return; end if;
  perform mark_directories(
    peer_roles, array(
      select distinct m.organization_id from unnest(peers) as i(id) join memberships m on m.node_id = i.id));
  if 'core_mesh' = any(peer_roles) then
    perform mark_near(array(
      select n.id from unnest(peers) as i(id) join nodes n on n.id = i.id
      where 'core_mesh' = any(n.roles) or 'core_mesh' = any(former_roles)));
  end if;
end $$;

-- Which rows touch what ------------------------------------------------------------------------------
-- Each gets the rows that changed: as they are after an insert, as they were after a delete, both after an update.

create function touch_policies(changed jsonb) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select distinct n.id, s.scope_type
  from jsonb_to_recordset(changed) as p(kind text, organization_id uuid, roles text[])
  join snapshot_sections s on s.section =
    case p.kind when 'route' then 'routes' when 'qos' then 'classes' when 'degraded_mode' then 'policy' else p.kind end
  join nodes n on (s.roles = '{}' or s.roles && n.roles) and (p.roles = '{}' or p.roles && n.roles)
  where n.enrolled_at is not null and n.revoked_at is null and (p.organization_id is null or exists (
    select 1 from memberships m where m.node_id = n.id and m.organization_id = p.organization_id))
$$;

create function touch_memberships(changed jsonb) returns void language plpgsql as $$
declare
  ids uuid[] := array(select distinct c.node_id from jsonb_to_recordset(changed) as c(node_id uuid));
begin
  perform mark_whole(ids);
  perform mark_directories('{}', array(
    select distinct c.organization_id from jsonb_to_recordset(changed) as c(node_id uuid, organization_id uuid)
    join peer_addresses a on a.node_id = c.node_id));
end $$;

create function touch_secret_refs(changed jsonb) returns void language sql as $$
  select mark_sections(array(
    select l.node_id from jsonb_to_recordset(changed) as r(name text, organization_id uuid)
    join services s on s.secrets @> array[r.name] and s.organization_id = r.organization_id
    join service_nodes l on l.service_id = s.id), '{services}')
$$;

create function touch_services(changed jsonb) returns void language plpgsql as $$
begin
  perform mark_sections(array(
    select l.node_id from service_nodes l join (
      select (s->>'id')::uuid as id from jsonb_array_elements(changed) s group by 1
      having count(*) = 1 or count(distinct s - 'address') > 1
    ) inner_part on inner_part.id = l.service_id), '{services}');
  perform mark_sections(array(
    select m.node_id from memberships m where m.organization_id in (
      select (s->>'organization_id')::uuid from jsonb_array_elements(changed) s where s->>'id' in (
        select e->>'id' from jsonb_array_elements(changed) e group by 1
        having count(distinct (e->>'address', e->>'organization_id')) > 1
          or (count(*) = 1 and count(e->>'address') = 1)))), '{service_endpoints}');
end $$;

create function touch_service_nodes(changed jsonb) returns void language sql as $$
  select mark_sections(
    array(select distinct l.node_id from jsonb_to_recordset(changed) as l(node_id uuid)), '{services}')
$$;

create function touch_storage_endpoints(changed jsonb) returns void language sql as $$
  insert into snapshot_dirty (node_id, scope_type)
  select distinct n.id, 'storage_directory'
  from (
    select jsonb_array_elements(jsonb_agg(e->'organization_id')) as organization,
      count(*) = 1 or count(distinct e - 'shard' - 'replicas') > 1 as outside
    from jsonb_array_elements(changed) e group by e->>'id'
  ) c
  join nodes n on 'storage_config' = any(n.roles) or (c.outside and 'core_mesh' = any(n.roles))
  where n.enrolled_at is not null and n.revoked_at is null and (c.organization = 'null' or exists (
    select 1 from memberships m where m.node_id = n.id and m.organization_id = (c.organization #>> '{}')::uuid))
$$;

create function touch_peer_addresses(changed jsonb) returns void language plpgsql as $$
declare
  ids uuid[] := array(
    select distinct n.id from jsonb_to_recordset(changed) as c(node_id uuid) join nodes n on n.id = c.node_id
    where n.enrolled_at is not null and n.revoked_at is null);
  peer_roles text[] := array(
    select distinct r from unnest(ids) as i(id) join nodes n on n.id = i.id cross join unnest(n.roles) as r);
begin
  if cardinality(ids) = 0 then return; end if;
  perform mark_directories(
    peer_roles, array(select distinct m.organization_id from unnest(ids) as i(id) join memberships m on m.node_id = i.id));
  perform mark_near(array(
    select n.id from unnest(ids) as i(id) join nodes n on n.id = i.id where 'core_mesh' = any(n.roles)));
end $$;

-- The nodes themselves hear of it by their heads: their polls are woken.
create function touch_authority_revocations(changed jsonb) returns void language plpgsql as $$
declare
  r record;
  concerned uuid[];
begin
  for r in select * from jsonb_to_recordset(changed) as v(kind text, subject text, node_id uuid) loop
    perform pg_notify('fairlead_nodes', coalesce(r.node_id::text, '*'));
    if r.kind = 'role_assignment' then
      concerned := array(select n.id from nodes n where r.subject = any(n.roles) and (r.node_id is null or n.id = r.node_id));
      perform mark_whole(concerned);
      perform mark_as_peers(concerned, array[r.subject]);
    elsif r.kind = 'service_assignment' then
      perform mark_sections(array(
        select a.node_id from service_assignments a
        where a.chain_profile_id = r.subject and (r.node_id is null or a.node_id = r.node_id)), '{assignments}');
    elsif r.kind = 'degraded_permission' then
      perform mark_sections(array(select n.id from nodes n where r.node_id is null or n.id = r.node_id), '{policy}');
    elsif r.kind = 'storage_endpoint' then
      perform mark_sections(array(select n.id from nodes n where r.node_id is null or n.id = r.node_id), '{endpoints}');
    elsif r.kind = 'peer' and r.node_id is not null then
      perform mark_sections(array[r.node_id], '{peers,bootstrap_peers}');
    elsif r.kind = 'peer' then
      perform mark_as_peers(array(select n.id from nodes n where n.id::text = r.subject), '{}');
    end if;
  end loop;
end $$;

create function touch_clusters(changed jsonb) returns void language sql as $$
  select mark_sections(array(select n.id from nodes n where (
    select count(distinct (c->'name', c->'refresh_endpoints')) > 1 from jsonb_array_elements(changed) c)), '{cluster}')
$$;

-- Triggers -------------------------------------------------------------------------------------------

create function model_changed() returns trigger language plpgsql as $$
declare
  changed jsonb;
begin
  if tg_op = 'INSERT' then
    changed := (select jsonb_agg(to_jsonb(n) - 'updated_at') from new_rows n);
  elsif tg_op = 'DELETE' then
    changed := (select jsonb_agg(to_jsonb(o) - 'updated_at') from old_rows o);
  else
    changed := (select jsonb_agg(c.row) from (
      (select to_jsonb(o) - 'updated_at' as row from old_rows o except select to_jsonb(n) - 'updated_at' from new_rows n)
      union all
      (select to_jsonb(n) - 'updated_at' from new_rows n except select to_jsonb(o) - 'updated_at' from old_rows o)) c);
  end if;
  if changed is null then return null; end if;
  execute format('select touch_%s($1)', tg_table_name) using changed;
  perform pg_notify('fairlead_snapshots', '');
  return null;
end $$;

do $$
declare
  model text;
begin
  foreach model in array array['policies', 'memberships', 'secret_refs', 'services', 'service_nodes',
    'storage_endpoints', 'peer_addresses', 'authority_revocations', 'clusters'] loop
    execute format('create trigger model_inserted after insert on %I referencing new table as new_rows '
      'for each statement execute function model_changed()', model);
    execute format('create trigger model_updated after update on %I referencing old table as old_rows new table as new_rows '
      'for each statement execute function model_changed()', model);
    execute format('create trigger model_deleted after delete on %I referencing old table as old_rows '
      'for each statement execute function model_changed()', model);
  end loop;
end $$;

-- Rollouts write nodes all the time; only these columns matter here.
create function nodes_changed() returns trigger language plpgsql as $$
declare
  ids uuid[];
  seen_otherwise uuid[];
  former_roles text[];
begin
  select array_agg(n.id),
    array_agg(n.id) filter (where n.roles <> o.roles or (n.enrolled_at is not null and n.revoked_at is null)
      <> (o.enrolled_at is not null and o.revoked_at is null))
  into ids, seen_otherwise
  from new_rows n join old_rows o on o.id = n.id
  where n.roles <> o.roles or n.revoked_at is distinct from o.revoked_at or n.enrolled_at is distinct from o.enrolled_at;
  if ids is null then return null; end if;
  former_roles := array(
    select distinct r from unnest(seen_otherwise) as i(id) join old_rows o on o.id = i.id cross join unnest(o.roles) as r);
  perform mark_whole(ids);
  perform mark_as_peers(coalesce(seen_otherwise, '{}'), former_roles);
  perform pg_notify('fairlead_snapshots', '');
  return null;
end $$;
create trigger model_updated after update on nodes referencing old table as old_rows new table as new_rows
  for each statement execute function nodes_changed();

create function nodes_inserted() returns trigger language plpgsql as $$
begin
  perform mark_whole(array(select n.id from new_rows n where n.enrolled_at is not null));
  perform pg_notify('fairlead_snapshots', '');
  return null;
end $$;
create trigger model_inserted after insert on nodes referencing new table as new_rows
  for each statement execute function nodes_inserted();

-- The nodes that were here before.
select mark_whole(array(select id from nodes));
