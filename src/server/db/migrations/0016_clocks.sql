-- Clocks of the control plane (SNAP-17): where each replica's wall clock stands, and what operators confirmed.

-- Wall clock minus the database's, and why the replica signs nothing, as it last said.
alter table replicas
  add column clock_offset_ms  bigint,
  add column clock_problem    text;

-- The true time, as an operator said it, beside the database's clock at that moment.
create table clock_confirmations (
  seq            bigint generated always as identity primary key,
  true_time      timestamptz not null,
  database_time  timestamptz not null default clock_timestamp(),
  reason         text not null,
  actor          text not null
);
