/** The commands of a step, and the nodes that they are for: at work from now on. */
import type { CommandId, RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import type { Launched } from "./maintenance.ts";

export interface NewCommand extends Launched {
  readonly command_id: CommandId;
  readonly frame: string;
  readonly direction: string;
  readonly attempt: number;
}

export async function storeCommands(
  tx: Transaction,
  rolloutId: RolloutId,
  commands: readonly NewCommand[],
  now: number,
) {
  const column = <T>(pick: (command: NewCommand) => T): T[] => commands.map(pick);
  const ids = column((command) => command.command_id);
  const nodeIds = column((command) => command.node_id);
  const insert = () => tx`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    select c.command_id, c.node_id, ${rolloutId}, c.sequence, decode(c.frame, 'base64'), ${new Date(now + LIMITS.commandLifetimeMs)}
    from unnest(${ids}::uuid[], ${nodeIds}::uuid[], ${column((command) => command.sequence)}::bigint[],
      ${column((command) => command.frame)}::text[]) as c(command_id, node_id, sequence, frame)`;
  const launch = () => tx`
    update rollout_nodes rn set status = 'in_progress', upgrade_phase = 'PREPARING', command_id = c.command_id,
      direction = c.direction, attempt_count = c.attempt, launched_at = ${new Date(now)}, progress_pct = 0,
      action_name = null, waiting_for = null, ended_at = null, retry_requested = false, restarts_before = 0, stands = null,
      silent_since = null,
      error_code = case when c.direction = 'reverse' then rn.error_code end,
      error_message = case when c.direction = 'reverse' then rn.error_message end,
      installed_at = null, previous_version = c.version,
      previous_checksum = c.checksum, previous_binary_url = c.url, previous_rollout_id = c.before
    from unnest(${ids}::uuid[], ${nodeIds}::uuid[], ${column((command) => command.direction)}::text[],
      ${column((command) => command.attempt)}::int[], ${column((command) => command.previous_version)}::text[],
      ${column((command) => command.previous_checksum)}::text[], ${column((command) => command.previous_binary_url)}::text[],
      ${column((command) => command.previous_rollout_id)}::uuid[])
      as c(command_id, node_id, direction, attempt, version, checksum, url, before)
    where rn.rollout_id = ${rolloutId} and rn.node_id = c.node_id`;
  await pipelined(insert, launch);
}
