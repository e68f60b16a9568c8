-- Fingerprints and ways to run can be revoked, too (SNAP-10, ADR 25).
alter table authority_revocations drop constraint authority_revocations_kind_check;
alter table authority_revocations add constraint authority_revocations_kind_check
  check (kind in ('signing_key', 'node_identity', 'role_assignment', 'service_assignment', 'peer', 'storage_endpoint',
    'degraded_permission', 'artifact', 'run'));

-- An agent turns to a new id and names the one before it, which leaves the list: clones of a running machine, memory and
-- all, turn to different ids, and the second of them is a new entry.
create or replace function next_instances(known jsonb, coming jsonb) returns jsonb language sql volatile as $$
  select jsonb_agg(i.instance order by i.place) from (
    select (coming - 'follows') || jsonb_build_object('heard_at', clock_timestamp()) as instance, 0 as place
    union all
    select k.value, k.ordinality from jsonb_array_elements(known) with ordinality k
    where k.value->>'id' <> coming->>'id' and k.value->>'id' is distinct from coming->>'follows' and k.ordinality <= 4
    order by place limit 4) i
$$;
