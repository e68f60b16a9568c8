/** Rule 5: one active standalone rollout or group per profile. The database's claim decides; here it is explained. */
import { FairleadError } from "../../core/errors.ts";
import type { ProfileId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";

/** In one order for everyone, so that two groups over the same profiles wait for each other once. */
export async function lockProfiles(tx: Transaction, profiles: readonly ProfileId[]): Promise<void> {
  for (const profile of [...new Set(profiles)].toSorted())
    await tx`select pg_advisory_xact_lock(hashtextextended(${profile}, ${LOCKS.profiles}))`;
}

/** Said before anything else that follows from it: an active rollout holds its nodes. */
export async function refuseSecondActive(tx: Transaction, profiles: readonly ProfileId[]): Promise<void> {
  const [claim] = await tx<{ chain_profile_id: ProfileId; owner: string; grouped: boolean }[]>`
    select c.chain_profile_id, c.owner, exists (select 1 from rollout_groups g where g.id = c.owner) as grouped
    from profile_claims c where c.chain_profile_id = any(${[...profiles]}) order by 1 limit 1`;
  if (claim === undefined) return;
  const { chain_profile_id: profile, owner, grouped } = claim;
  throw new FairleadError(
    "ROLLOUT_ACTIVE",
    `profile ${profile} has an active ${grouped ? "group" : "rollout"}`,
    { rule: 5, [grouped ? "group_id" : "rollout_id"]: owner },
  );
}

/** What the database refused, in our words. */
export function explainConflict(error: unknown, what: string, profile: ProfileId): unknown {
  const constraint = (error as { constraint_name?: string }).constraint_name;
  if (constraint === "one_active_per_profile")
    return new FairleadError("ROLLOUT_ACTIVE", `profile ${profile} has an active rollout`, { rule: 5 });
  if (constraint === "rollouts_pkey" || constraint === "rollout_groups_pkey")
    return new FairleadError("STATE_MOVED", `${what} exists already`);
  return error;
}
