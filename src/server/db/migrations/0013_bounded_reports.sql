-- How far a command's reports have come: the index of the furthest action, or 100 once it was answered. A report counts
-- only when it goes further, so that a node cannot make more rows and events of a command than it has actions.
alter table commands add column reported_rank smallint not null default -1;
