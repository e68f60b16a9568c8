/**
 * The programs that a node has (ROLL-28): rows that operators add and remove, each with an event that says who and why.
 *
 * 1. The lock on the profile is taken first, as creating a rollout does: a rollout sees the profile on the node or does not,
 *    and none is created over a node that leaves it meanwhile.
 * 2. A version that the node already reports is recorded with the new profile. The heartbeat's row is locked, so one that
 *    arrives meanwhile is read here or finds the profile.
 */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { ACTIVE_STATUSES } from "../../core/rollout/states.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { lockProfiles } from "../rollout/profile-claim.ts";
import { forgetUnsettled } from "../rollout/unsettled.ts";

export interface ProfileChange {
  readonly id: NodeId;
  readonly profile: ProfileId;
  readonly actor: string;
  readonly reason: string | null;
}

/** A profile that the node has already changes nothing. */
export async function addProfile(db: Database, { id, profile, actor, reason }: ProfileChange): Promise<void> {
  await db.begin(async (tx) => {
    await lockProfiles(tx, [profile]); // (1)
    const before = await lockNode(tx, id);
    if (before.includes(profile)) return;
    if (before.length >= LIMITS.nodeProfilesMax)
      throw new FairleadError("INVALID_INPUT", `a node has at most ${LIMITS.nodeProfilesMax} profiles`);
    await tx`insert into node_profiles (node_id, chain_profile_id) values (${id}, ${profile})`;
    await recordReported(tx, id, profile);
    const data = { chain_profile_id: profile, reason };
    await appendEvents(tx, [{ kind: "node.profile.added", node_id: id, actor, data }]);
  });
}

/** The program itself stays on the machine as it is; the control plane no longer upgrades or judges it. */
export async function removeProfile(
  db: Database,
  { id, profile, actor, reason }: ProfileChange,
): Promise<void> {
  await db.begin(async (tx) => {
    await lockProfiles(tx, [profile]); // (1)
    const before = await lockNode(tx, id);
    if (!before.includes(profile))
      throw new FairleadError("NOT_FOUND", `node ${id} has no profile ${profile}`, { profiles: before });
    await refuseActive(tx, id, profile);
    if (before.length === 1)
      throw new FairleadError(
        "ILLEGAL_TRANSITION",
        `${profile} is the node's only profile: add another one first, or revoke the node`,
      );
    await dropProfiles(tx, id, [profile]);
    const data = { chain_profile_id: profile, reason };
    await appendEvents(tx, [{ kind: "node.profile.removed", node_id: id, actor, data }]);
  });
}

/** For a node that is about to enroll: exactly these. */
export async function replaceProfiles(
  tx: Transaction,
  id: NodeId,
  profiles: readonly ProfileId[],
): Promise<void> {
  const before = await tx<{ profile: ProfileId }[]>`
    select chain_profile_id as profile from node_profiles where node_id = ${id}`;
  await dropProfiles(
    tx,
    id,
    before.map(({ profile }) => profile).filter((profile) => !profiles.includes(profile)),
  );
  await tx`
    insert into node_profiles (node_id, chain_profile_id)
    select ${id}, profile from unnest(${[...profiles]}::text[]) as profile on conflict do nothing`;
}

async function lockNode(tx: Transaction, id: NodeId): Promise<ProfileId[]> {
  const [node] = await tx<{ revoked: boolean }[]>`
    select revoked_at is not null as revoked from nodes where id = ${id} for update`;
  if (node === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  if (node.revoked) throw new FairleadError("NODE_REVOKED", `node ${id} was revoked`);
  const rows = await tx<{ profile: ProfileId }[]>`
    select chain_profile_id as profile from node_profiles where node_id = ${id} order by 1`;
  return rows.map(({ profile }) => profile);
}

async function refuseActive(tx: Transaction, id: NodeId, profile: ProfileId): Promise<void> {
  const [active] = await tx<{ id: string }[]>`
    select r.id from rollouts r join rollout_nodes rn on rn.rollout_id = r.id and rn.node_id = ${id}
    where r.chain_profile_id = ${profile} and r.status = any(${[...ACTIVE_STATUSES]}) limit 1`;
  if (active !== undefined)
    throw new FairleadError(
      "ROLLOUT_ACTIVE",
      `a rollout of ${profile} has this node: wait for it, or cancel it`,
      {
        rollout_id: active.id,
      },
    );
}

async function dropProfiles(tx: Transaction, id: NodeId, profiles: readonly ProfileId[]): Promise<void> {
  if (profiles.length === 0) return;
  for (const profile of profiles) await forgetUnsettled(tx, profile, [id]);
  for (const table of ["service_assignments", "node_config_state", "node_profiles"])
    await tx`delete from ${tx(table)} where node_id = ${id} and chain_profile_id = any(${[...profiles]})`;
  // The node's assignment snapshot is compiled again, without them.
  await tx`select mark_sections(array[${id}]::uuid[], '{assignments}'), pg_notify('fairlead_snapshots', '')`;
}

async function recordReported(tx: Transaction, id: NodeId, profile: ProfileId): Promise<void> {
  await tx`select 1 from node_heartbeats where node_id = ${id} for update`; // (2)
  await tx`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select hb.node_id, ${profile}, report->>'version', report->>'installed_fingerprint'
    from node_heartbeats hb, jsonb_array_elements(hb.programs) as report
    where hb.node_id = ${id} and report->>'chain_profile_id' = ${profile} and report->>'version' is not null limit 1
    on conflict do nothing`;
}
