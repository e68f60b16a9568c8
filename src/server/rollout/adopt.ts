/**
 * Records what a node runs after a person mended it by hand (ROLL-29): who, why, before and after.
 *
 * 1. The node's own measurement is recorded, never what the operator says it runs. Only the name of a version that the
 *    site has never rolled out is taken from the operator, or from the agent that installed it by a command.
 * 2. The node's row is locked like a launch locks it: an adoption comes before an upgrade or is refused.
 * 3. Rollouts are locked before the node, in the order of a step, to avoid deadlocks. Node rows of no other rollout change.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, NodeId, ProfileId, RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ProgramReport } from "../../core/protocol/agent-api.ts";
import type { NodeAdopt, NodeAdopted } from "../../core/protocol/operator-api.ts";
import { ACTIVE_STATUSES } from "../../core/rollout/states.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { isOnTarget } from "./load-next.ts";
import { SNAPSHOTS_CHANNEL } from "../snapshots/mark.ts";

interface Standing {
  readonly profiles: readonly ProfileId[];
  readonly revoked: boolean;
  /** Null: no heartbeat was ever stored. */
  readonly silent_ms: number | null;
  readonly programs: readonly ProgramReport[] | null;
}

const refused = (text: string, detail: Record<string, unknown> = {}): FairleadError =>
  new FairleadError("ADOPT_REFUSED", text, detail);

export const adoptNode = (
  db: Database,
  id: NodeId,
  request: NodeAdopt,
  actor: string,
  installedAs: string | null = null,
): Promise<NodeAdopted> =>
  db.begin(async (tx) => {
    const rollouts = await lockRollouts(tx, id); // (3)
    const [node] = await tx<Standing[]>`
      select n.revoked_at is not null as revoked, hb.programs,
        array(select chain_profile_id from node_profiles np where np.node_id = n.id order by 1)::text[] as profiles,
        (extract(epoch from clock_timestamp() - hb.received_at) * 1000)::bigint as silent_ms
      from nodes n left join node_heartbeats hb on hb.node_id = n.id where n.id = ${id} for no key update of n`; // (2)
    if (node === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
    const profile = profileOf(node, request.chain_profile_id);
    await refuseAtWork(tx, id, profile);
    const fingerprint = runningOn(node, profile);
    const version = await versionOf(tx, profile, fingerprint, request.version, installedAs);
    const before = await recordedOf(tx, id, profile);
    const after = { binary_version: version, fingerprint };
    await tx`
      insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
      values (${id}, ${profile}, ${version}, ${fingerprint})
      on conflict (node_id, chain_profile_id) do update set binary_version = excluded.binary_version,
        fingerprint = excluded.fingerprint, updated_at = now()`;
    await settleRollouts(tx, rollouts, id, profile, fingerprint);
    await settleAssignment(tx, id, profile, fingerprint);
    const { reason } = request;
    const data = { chain_profile_id: profile, before, after, reason };
    await appendEvents(tx, [{ kind: "node.adopted", node_id: id, actor, data }]);
    return { node_id: id, chain_profile_id: profile, before, after };
  });

async function lockRollouts(tx: Transaction, id: NodeId): Promise<RolloutId[]> {
  const rows = await tx<{ id: RolloutId }[]>`
    select id from rollouts
    where id in (select rollout_id from unsettled_nodes where node_id = ${id})
      or id in (
        select rollout_id from rollout_nodes
        where node_id = ${id} and (status = 'failed_rollback' or (${isOnTarget(tx)})))
    order by id for update`;
  return rows.map((row) => row.id);
}

function profileOf({ profiles }: Standing, named: ProfileId | undefined): ProfileId {
  const [only, ...others] = profiles;
  if (named !== undefined && !profiles.includes(named))
    throw refused(`the node has no program of profile ${named}`);
  if (named !== undefined) return named;
  if (only === undefined || others.length > 0)
    throw new FairleadError(
      "INVALID_INPUT",
      `chain_profile_id: the node has ${profiles.join(", ")}: name one`,
      {
        field: "chain_profile_id",
      },
    );
  return only;
}

async function refuseAtWork(tx: Transaction, id: NodeId, profile: ProfileId): Promise<void> {
  const [rollout] = await tx<{ id: string }[]>`
    select r.id from rollouts r join rollout_nodes rn on rn.rollout_id = r.id and rn.node_id = ${id}
    where r.chain_profile_id = ${profile} and r.status = any(${[...ACTIVE_STATUSES]}) and rn.status = 'in_progress'`;
  if (rollout !== undefined)
    throw refused(`an upgrade of ${profile} is under way on the node`, { rollout_id: rollout.id });
}

/** What runs there and is installed there, by a heartbeat of these moments. (1) */
function runningOn({ revoked, silent_ms, programs }: Standing, profile: ProfileId): Digest {
  if (revoked) throw refused("the node is revoked");
  if (silent_ms === null) throw refused("the node has never been heard of");
  if (silent_ms >= LIMITS.heartbeatLateMs)
    throw refused(`the node is silent: its last heartbeat is ${Math.round(silent_ms / 1000)} s old`);
  const program = programs?.find((each) => each.chain_profile_id === profile);
  if (program === undefined) throw refused(`the node reports no program of profile ${profile}`);
  const { running_fingerprint: running, installed_fingerprint: installed } = program;
  if (running === null) throw refused(`nothing of profile ${profile} runs on the node: start it first`);
  if (running !== installed)
    throw refused(
      `the node runs ${running} and has ${installed ?? "nothing"} installed: restart the program first`,
    );
  return running;
}

async function versionOf(
  tx: Transaction,
  profile: ProfileId,
  fingerprint: Digest,
  named: string | undefined,
  installedAs: string | null,
): Promise<string> {
  const [known] = await tx<{ version: string }[]>`
    select target_version as version from rollouts
    where chain_profile_id = ${profile} and target_binary_checksum = ${fingerprint} order by created_at desc limit 1`;
  const version = known?.version ?? named ?? installedAs ?? undefined;
  if (version === undefined)
    throw new FairleadError(
      "INVALID_INPUT",
      `version: no rollout of ${profile} brought ${fingerprint}: name its version`,
      {
        field: "version",
      },
    );
  if (named !== undefined && named !== version)
    throw new FairleadError(
      "INVALID_INPUT",
      `version: ${fingerprint} was rolled out as ${version}, not as ${named}`,
      {
        field: "version",
      },
    );
  return version;
}

async function recordedOf(tx: Transaction, id: NodeId, profile: ProfileId): Promise<NodeAdopted["before"]> {
  const [row] = await tx<NonNullable<NodeAdopted["before"]>[]>`
    select binary_version, fingerprint from node_config_state where node_id = ${id} and chain_profile_id = ${profile}`;
  return row === undefined ? null : { binary_version: row.binary_version, fingerprint: row.fingerprint };
}

/**
 * The version is known now: no heartbeat or late verdict has to settle these rollouts' rows. A rollback leaves out a node
 * that runs other bytes than the target: the node would refuse its command.
 */
async function settleRollouts(
  tx: Transaction,
  rollouts: readonly RolloutId[],
  id: NodeId,
  profile: ProfileId,
  fingerprint: Digest,
): Promise<void> {
  await tx`
    update rollout_nodes rn set stands = case ${fingerprint}
      when r.target_binary_checksum then 'target' when rn.previous_checksum then 'previous' end
    from unsettled_nodes u join rollouts r on r.id = u.rollout_id and r.chain_profile_id = ${profile}
    where u.node_id = ${id} and rn.rollout_id = u.rollout_id and rn.node_id = u.node_id
      and u.rollout_id = any(${rollouts})`;
  await tx`
    update rollout_nodes rn set stands =
      case when rn.previous_checksum = ${fingerprint} then 'previous' when rn.status = 'succeeded' then 'unknown' end
    from rollouts r
    where r.id = rn.rollout_id and r.id = any(${rollouts}) and r.chain_profile_id = ${profile}
      and r.target_binary_checksum <> ${fingerprint} and rn.node_id = ${id} and ${isOnTarget(tx, tx`rn`)}`;
  // The broken machine was mended: the node is failed like any other, and a retry begins from the adopted version.
  await tx`
    update rollout_nodes rn set status = 'failed' from rollouts r
    where r.id = rn.rollout_id and r.id = any(${rollouts}) and r.chain_profile_id = ${profile} and rn.node_id = ${id}
      and rn.status = 'failed_rollback' and rn.direction = 'forward'`;
  await tx`
    delete from unsettled_nodes u using rollouts r
    where u.node_id = ${id} and u.rollout_id = any(${rollouts}) and r.id = u.rollout_id
      and r.chain_profile_id = ${profile}`;
}

/** An assignment that names what runs is settled on it; one of anything else is gone. */
async function settleAssignment(
  tx: Transaction,
  id: NodeId,
  profile: ProfileId,
  fingerprint: Digest,
): Promise<void> {
  await tx`
    delete from service_assignments
    where node_id = ${id} and chain_profile_id = ${profile} and ${fingerprint} not in (target_fp, coalesce(current_fp, ''))`;
  await tx`
    update service_assignments set kind = 'settled', target_fp = ${fingerprint}, current_fp = null,
      rollback_fp = case when target_fp = ${fingerprint} then coalesce(current_fp, rollback_fp) end
    where node_id = ${id} and chain_profile_id = ${profile}`;
  await tx`insert into snapshot_dirty (node_id, scope_type) values (${id}, 'service_assignment')`;
  await tx`select pg_notify(${SNAPSHOTS_CHANNEL}, '')`;
}
