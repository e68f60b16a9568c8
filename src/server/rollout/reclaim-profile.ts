/** One active rollout or group per profile (rule 5). The trigger on both tables keeps and frees the claim. */
import { FairleadError } from "../../core/errors.ts";
import type { Transaction } from "../db/database.ts";

/** Before a rollout that has ended becomes active again: taken with the wish, freed by the step that denies it. */
export async function reclaimProfile(tx: Transaction, profile: string, owner: string): Promise<void> {
  await tx`insert into profile_claims values (${profile}, ${owner}) on conflict do nothing`;
  const [claim] = await tx<
    { owner: string }[]
  >`select owner from profile_claims where chain_profile_id = ${profile}`;
  if (claim?.owner === owner) return;
  // Without a claim: its holder has just let go of it, and whoever asks again finds it free.
  throw new FairleadError("ROLLOUT_ACTIVE", `profile ${profile} has an active rollout`, {
    rule: 5,
    ...(claim === undefined ? {} : { rollout_id: claim.owner }),
  });
}
