-- The last start without the control plane that a program's node reported and an event tells (SNAP-9).
alter table node_profiles
  add column started_alone_at timestamptz,
  add column started_alone_told_at timestamptz;

-- In which order certificates opened their first connection. A number and not a time: the clock may have been ahead.
create sequence certificate_first_uses;
alter table node_certificates add column first_use bigint;
