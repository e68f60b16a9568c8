/** Upgrade manifests as the operators' API shows them (ROLL-1). */
import { z } from "zod";
import { Digest, ProfileId, UpgradeId } from "../ids.ts";
import { MigrationType, Runtime } from "../manifest/schema.ts";

/** Of one that is not understood, what is wrong with it; of one that cannot even be read, no hash. */
export const ManifestSummary = z.object({
  chain_profile_id: ProfileId,
  upgrade_id: UpgradeId,
  content_hash: Digest.nullable(),
  runtime: Runtime.nullable(),
  binary_name: z.string().nullable(),
  target_version: z.string().nullable(),
  migration_type: MigrationType.nullable(),
  problem: z.string().nullable(),
});
export type ManifestSummary = z.infer<typeof ManifestSummary>;
export const ManifestList = z.object({
  manifests: z.array(ManifestSummary),
  next_cursor: z.string().nullable(),
});

/** The raw text, whose hash is `content_hash`. */
export const ManifestView = z.object({
  ...ManifestSummary.shape,
  content_hash: Digest,
  text: z.string(),
});
export type ManifestView = z.infer<typeof ManifestView>;
