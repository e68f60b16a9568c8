-- Fingerprints and ways to run can be revoked, too (SNAP-10, ADR 25).
alter table authority_revocations drop constraint authority_revocations_kind_check;
alter table authority_revocations add constraint authority_revocations_kind_check
  check (kind in ('signing_key', 'node_identity', 'role_assignment', 'service_assignment', 'peer', 'storage_endpoint',
    'degraded_permission', 'artifact', 'run'));
