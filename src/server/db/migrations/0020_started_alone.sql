-- The last start without the control plane that a program's node reported and an event tells (SNAP-9).
alter table node_profiles
  add column started_alone_at timestamptz,
  add column started_alone_told_at timestamptz;
