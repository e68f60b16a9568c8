/**
 * The content of the `service_assignment` scope: which bytes may run here.
 * Exactly `{current, target}` during an upgrade and `{target, rollback}` after it (SNAP-16).
 */
import { z } from "zod";
import { Digest, ProfileId, RolloutId } from "../ids.ts";

const common = {
  chain_profile_id: ProfileId,
  rollout_id: RolloutId,
  /** Null only where the trust bundle does not require intents. */
  intent_digest: Digest.nullable(),
};

export const Assignment = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("upgrading"), ...common, current: Digest.nullable(), target: Digest }),
  z.strictObject({ kind: z.literal("settled"), ...common, target: Digest, rollback: Digest.nullable() }),
]);
export type Assignment = z.infer<typeof Assignment>;

export const ServiceAssignmentContent = z
  .strictObject({ assignments: z.array(Assignment).max(100) })
  .refine(
    ({ assignments }) => new Set(assignments.map((a) => a.chain_profile_id)).size === assignments.length,
    "one assignment per profile",
  );
export type ServiceAssignmentContent = z.infer<typeof ServiceAssignmentContent>;
