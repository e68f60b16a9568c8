/** Auto mode reads a manifest, manual mode takes the request; both end in one shape with a content hash (rule 6). */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, UpgradeId } from "../../core/ids.ts";
import type { ConfigRecipes } from "../../core/manifest/recipe.ts";
import { LIMITS } from "../../core/limits.ts";
import type { MigrationType, Runtime } from "../../core/manifest/schema.ts";
import {
  hashedRequest,
  type RolloutCreate,
  type RolloutCreateAuto,
  type RolloutCreateManual,
} from "../../core/rollout/create.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { digestOfJson } from "../../trust/digest.ts";
import type { ManifestReader } from "../manifests/reader.ts";

export interface Proposal {
  readonly upgradeId: UpgradeId | null;
  readonly runtime: Runtime;
  readonly binaryName: string;
  readonly targetVersion: string;
  readonly url: string;
  readonly checksum: string;
  readonly run: RunSpec;
  readonly migrationType: MigrationType;
  readonly recoveryPlan: string | null;
  readonly nodeSilenceMaxMs: number;
  readonly configs: ConfigRecipes;
  readonly contentHash: Digest;
}

export async function resolveProposal(
  manifests: Pick<ManifestReader, "get">,
  request: RolloutCreate,
): Promise<Proposal> {
  const proposal = "upgrade_id" in request ? await fromManifest(manifests, request) : fromRequest(request);
  const expected = request.manifest_content_hash;
  if (expected !== undefined && expected !== proposal.contentHash) {
    throw new FairleadError(
      "MANIFEST_HASH_MISMATCH",
      `expected ${expected}, the server has ${proposal.contentHash}`,
      {
        rule: 6,
      },
    );
  }
  return proposal;
}

async function fromManifest(
  manifests: Pick<ManifestReader, "get">,
  request: RolloutCreateAuto,
): Promise<Proposal> {
  const { manifest, contentHash, configs } = await manifests.get(
    request.chain_profile_id,
    request.upgrade_id,
  );
  return {
    upgradeId: manifest.upgrade_id,
    runtime: manifest.runtime,
    binaryName: manifest.binary_name,
    targetVersion: manifest.target_version,
    url: manifest.target_url,
    checksum: manifest.target_checksum,
    run: manifest.run,
    migrationType: manifest.state_compatibility.migration_type,
    recoveryPlan: manifest.state_compatibility.recovery_plan,
    nodeSilenceMaxMs: Math.round(manifest.node_silence_max * 1000),
    configs,
    contentHash,
  };
}

const fromRequest = (request: RolloutCreateManual): Proposal => ({
  upgradeId: null,
  runtime: request.runtime,
  binaryName: request.binary_name,
  targetVersion: request.target_version,
  url: request.target_binary_url,
  checksum: request.target_binary_checksum,
  run: request.run,
  migrationType: request.migration_type,
  recoveryPlan: request.recovery_plan,
  nodeSilenceMaxMs:
    request.node_silence_max === undefined
      ? LIMITS.nodeSilenceMaxDefaultMs
      : Math.round(request.node_silence_max * 1000),
  configs: {
    recipes: request.config_files.map(({ path, mode, content }) => ({
      kind: "content",
      path,
      mode,
      content,
      place: null,
    })),
    overrides: {},
    overridesPlace: { file: "the request", line: 1, column: 1 },
  },
  contentHash: digestOfJson(hashedRequest(request)),
});
