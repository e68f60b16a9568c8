-- 0014 lowered a raised sequence to the highest issued one, which is itself raised where a command was signed meanwhile.
update nodes n set command_sequence = coalesce(
    (select max(sequence) from commands c where c.node_id = n.id and c.sequence <= 1::bigint << 50), 0)
  where command_sequence > 1::bigint << 50;
