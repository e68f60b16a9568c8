/** What is done before the transaction: the proposal, its rules, and the config files of the nodes there are now. */
import { Digest } from "../../core/ids.ts";
import { checkStrategyFields, type RolloutCreate } from "../../core/rollout/create.ts";
import { checkCreationRules } from "../../core/rollout/creation-rules.ts";
import { planConfigs } from "../../render/configs.ts";
import type { Database } from "../db/database.ts";
import type { ManifestReader } from "../manifests/reader.ts";
import { findNodes } from "./eligible-nodes.ts";
import { openNodeFiles, type NodeFiles } from "./node-files.ts";
import { resolveProposal, type Proposal } from "./proposal.ts";

export interface PreparedRollout {
  readonly request: RolloutCreate;
  readonly proposal: Proposal;
  readonly checksum: Digest;
  readonly files: NodeFiles;
}

export interface PrepareDeps {
  readonly db: Database;
  readonly manifests: Pick<ManifestReader, "get">;
  readonly now: () => number;
}

export async function prepareRollout(deps: PrepareDeps, request: RolloutCreate): Promise<PreparedRollout> {
  checkStrategyFields(request);
  const proposal = await resolveProposal(deps.manifests, request);
  // Which files really change is known with the nodes: rule 4 is looked at again then.
  checkRules(request, proposal, proposal.configs.recipes.length > 0);
  const plan = planConfigs(proposal.configs, {
    profile: request.chain_profile_id,
    upgradeId: proposal.upgradeId,
    targetVersion: proposal.targetVersion,
    sourceVersion: request.source_version,
  });
  const files = openNodeFiles(plan);
  if (plan.own !== null) await files.renderAhead(await findNodes(deps.db, request), deps.now);
  return { request, proposal, checksum: Digest.parse(proposal.checksum), files };
}

export const checkRules = (request: RolloutCreate, proposal: Proposal, configOnly: boolean): void =>
  checkCreationRules({
    ...proposal,
    sourceVersion: request.source_version,
    strategy: request.strategy,
    acknowledgeStateRisk: request.acknowledge_state_risk,
    configOnly,
  });
