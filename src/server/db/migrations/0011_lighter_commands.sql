-- A command is written once, and marked once when it is answered. Its node and its rollout are in the transaction that
-- writes it; what waits for a node is found by the index of its numbers; and with room on the page the mark stays there.
alter table commands
  drop constraint commands_node_id_fkey,
  drop constraint commands_rollout_id_fkey;
drop index commands_waiting;
alter table commands set (fillfactor = 50);

-- Contents that nobody refers to are looked for once an hour, all at once: a scan serves that, and costs no writer.
drop index snapshot_history_by_content;
