/**
 * Turns launches into authority: an assignment of exactly `{current, target}`, its signed snapshot, and a signed
 * command of references, all in the transaction of the decision that asked for them.
 */
import { randomUUID } from "node:crypto";
import { CommandId, type Digest, type NodeId, type RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import {
  COMMAND_TYPE_UPGRADE,
  type CommandHeader,
  type UpgradePayload,
} from "../../core/protocol/command.ts";
import type { Launch } from "../../core/rollout/decision.ts";
import type { ConfigRef, RunSpec } from "../../core/upgrade/job.ts";
import { signCommand } from "../../trust/command.ts";
import type { Transaction } from "../db/database.ts";
import type { Authority } from "../snapshots/authority.ts";
import { publishAssignments } from "../snapshots/publish-assignments.ts";
import { configsOf } from "./rollout-configs.ts";

interface RolloutFacts {
  readonly id: RolloutId;
  readonly chain_profile_id: CommandHeader["chain_profile_id"];
  readonly upgrade_id: UpgradePayload["upgrade_id"];
  readonly binary_name: string;
  readonly target_version: string;
  readonly target_binary_url: string;
  readonly target_binary_checksum: Digest;
  readonly run: RunSpec;
  readonly intent_digest: Digest | null;
}

interface Prepared {
  readonly node_id: NodeId;
  readonly sequence: number;
  readonly previous_version: string | null;
  readonly previous_binary_url: string | null;
  readonly previous_checksum: Digest | null;
  /** What it runs now, as recorded. */
  readonly current: Digest | null;
}

export async function launchNodes(
  tx: Transaction,
  authority: Authority,
  rolloutId: RolloutId,
  launches: readonly Launch[],
  now: number,
): Promise<void> {
  if (launches.length === 0) return;
  const [rollout] = await tx<RolloutFacts[]>`select * from rollouts where id = ${rolloutId}`;
  const launchOf = new Map(launches.map((launch) => [launch.nodeId, launch]));
  const configs = await configsOf(tx, rolloutId, [...launchOf.keys()]);
  const prepared = await prepare(tx, rollout!, [...launchOf.keys()]);
  await assign(tx, rollout!, prepared, launchOf);
  const published = await publishAssignments(tx, authority, [...launchOf.keys()], now);
  const versions = new Map(published.map(({ nodeId, version }) => [nodeId, version]));
  const commands = prepared.map((node) => {
    const launch = launchOf.get(node.node_id)!;
    const payload = payloadOf(rollout!, node, launch, configs.get(node.node_id)!);
    const commandId = CommandId.parse(randomUUID());
    const frame = signCommand(
      {
        command_id: commandId,
        command_type: COMMAND_TYPE_UPGRADE,
        cluster_id: authority.clusterId,
        subject_node_id: node.node_id,
        sequence: node.sequence,
        rollout_id: rolloutId,
        chain_profile_id: rollout!.chain_profile_id,
        intent_digest: rollout!.intent_digest,
        direction: launch.direction,
        attempt: launch.attempt,
        assignment_config_version: versions.get(node.node_id)!,
        fingerprint: payload.artifact.fingerprint,
        issued_at: new Date(now).toISOString(),
        expires_at: new Date(now + LIMITS.commandLifetimeMs).toISOString(),
      },
      payload,
      authority.signers()[0],
    );
    return {
      command_id: commandId,
      node_id: node.node_id,
      sequence: node.sequence,
      frame: frame.toString("base64"),
      direction: launch.direction,
      attempt: launch.attempt,
    };
  });
  await storeCommands(tx, rolloutId, commands, now);
}

/** Takes the next sequence of each node and puts the node into maintenance; remembers what it came from. */
async function prepare(
  tx: Transaction,
  rollout: RolloutFacts,
  nodeIds: readonly NodeId[],
): Promise<Prepared[]> {
  await tx`
    update rollout_nodes rn set previous_version = state.binary_version, previous_checksum = state.fingerprint,
      previous_binary_url = (
        select r.target_binary_url from rollouts r where r.target_binary_checksum = state.fingerprint
        order by r.created_at desc limit 1)
    from node_config_state state
    where rn.rollout_id = ${rollout.id} and rn.node_id = any(${nodeIds}) and rn.direction = 'forward'
      and rn.attempt_count = 0 and state.node_id = rn.node_id and state.chain_profile_id = ${rollout.chain_profile_id}`;
  return tx<Prepared[]>`
    update nodes n set command_sequence = n.command_sequence + 1, state = 'maintenance'
    from rollout_nodes rn
    left join node_config_state recorded
      on recorded.node_id = rn.node_id and recorded.chain_profile_id = ${rollout.chain_profile_id}
    where n.id = any(${nodeIds}) and rn.rollout_id = ${rollout.id} and rn.node_id = n.id
    returning n.id as node_id, n.command_sequence as sequence,
      rn.previous_version, rn.previous_binary_url, rn.previous_checksum, recorded.fingerprint as current`;
}

async function assign(
  tx: Transaction,
  rollout: RolloutFacts,
  prepared: readonly Prepared[],
  launchOf: ReadonlyMap<NodeId, Launch>,
): Promise<void> {
  const rows = prepared.map((node) => {
    const forward = launchOf.get(node.node_id)!.direction === "forward";
    return {
      node_id: node.node_id,
      current_fp: forward ? node.current : rollout.target_binary_checksum,
      target_fp: forward ? rollout.target_binary_checksum : node.previous_checksum,
    };
  });
  await tx`
    insert into service_assignments (node_id, chain_profile_id, kind, current_fp, target_fp, intent_digest, rollout_id)
    select a.node_id, ${rollout.chain_profile_id}, 'upgrading', a.current_fp, a.target_fp, ${rollout.intent_digest}, ${rollout.id}
    from jsonb_to_recordset(${tx.json(rows)}) as a(node_id uuid, current_fp text, target_fp text)
    on conflict (node_id, chain_profile_id) do update set kind = 'upgrading', current_fp = excluded.current_fp,
      target_fp = excluded.target_fp, rollback_fp = null, intent_digest = excluded.intent_digest, rollout_id = excluded.rollout_id`;
}

function payloadOf(
  rollout: RolloutFacts,
  node: Prepared,
  launch: Launch,
  configs: readonly ConfigRef[],
): UpgradePayload {
  const name = rollout.binary_name;
  if (launch.direction === "forward") {
    const { target_version: version, target_binary_checksum: fingerprint, target_binary_url: url } = rollout;
    return {
      upgrade_id: rollout.upgrade_id,
      artifact: { name, version, fingerprint, url },
      run: rollout.run,
      configs: [...configs],
    };
  }
  // The node goes back to what it recorded itself; run and configs stand here for the intent's proof only.
  const artifact = {
    name,
    version: node.previous_version ?? "unknown",
    fingerprint: node.previous_checksum!,
    url: node.previous_binary_url ?? "",
  };
  return { upgrade_id: rollout.upgrade_id, artifact, run: rollout.run, configs: [...configs] };
}

interface NewCommand {
  readonly command_id: CommandId;
  readonly node_id: NodeId;
  readonly sequence: number;
  readonly frame: string;
  readonly direction: string;
  readonly attempt: number;
}

async function storeCommands(
  tx: Transaction,
  rolloutId: RolloutId,
  commands: readonly NewCommand[],
  now: number,
) {
  const rows = tx.json(commands as never);
  await tx`
    insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
    select c.command_id, c.node_id, ${rolloutId}, c.sequence, decode(c.frame, 'base64'), ${new Date(now + LIMITS.commandLifetimeMs)}
    from jsonb_to_recordset(${rows}) as c(command_id uuid, node_id uuid, sequence bigint, frame text)`;
  await tx`
    update rollout_nodes rn set status = 'in_progress', upgrade_phase = 'PREPARING', command_id = c.command_id,
      direction = c.direction, attempt_count = c.attempt, launched_at = ${new Date(now)}, progress_pct = 0, action_name = null
    from jsonb_to_recordset(${rows}) as c(command_id uuid, node_id uuid, direction text, attempt int)
    where rn.rollout_id = ${rolloutId} and rn.node_id = c.node_id`;
}
