/** The nodes a rollout takes: live, of the profile, type and labels, at the source version; or of those the named ones. */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, NodeId } from "../../core/ids.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import type { NodeFacts } from "../../render/configs.ts";
import type { Queryable, Transaction } from "../db/database.ts";

export interface EligibleNode extends NodeFacts {
  readonly id: NodeId;
  /** What it runs now, as far as that is known. */
  readonly fingerprint: Digest | null;
}

/**
 * As they are at this moment, none included. What each runs is looked up node by node: right after a rollout nobody has
 * counted how many run its version, and a plan made for a handful compares every node with every other.
 */
export const findNodes = async (tx: Queryable, request: RolloutCreate): Promise<EligibleNode[]> =>
  tx<EligibleNode[]>`
    select n.id, n.name, n.node_type as type, n.labels, state.fingerprint from node_profiles np
    join nodes n on n.id = np.node_id
    join lateral (
      select s.fingerprint, s.binary_version from node_config_state s
      where s.node_id = np.node_id and s.chain_profile_id = np.chain_profile_id offset 0
    ) state on true
    where np.chain_profile_id = ${request.chain_profile_id} and np.state in ('active', 'degraded', 'failed')
      and n.node_type = ${request.node_type} and n.enrolled_at is not null and n.revoked_at is null and n.state <> 'down'
      and state.binary_version = ${request.source_version}
      and n.labels @> ${tx.json(request.node_labels)}
      ${request.node_ids === undefined ? tx`` : tx`and n.id = any(${request.node_ids})`}
    order by n.id`;

export async function eligibleNodes(tx: Transaction, request: RolloutCreate): Promise<EligibleNode[]> {
  const eligible = await findNodes(tx, request);
  if (eligible.length === 0) {
    const labels = Object.entries(request.node_labels).map(([key, value]) => `${key}=${value}`);
    const which = labels.length === 0 ? "" : ` with ${labels.join(", ")}`;
    throw new FairleadError(
      "NO_ELIGIBLE_NODES",
      `no node of ${request.chain_profile_id}/${request.node_type}${which} runs version ${request.source_version}`,
    );
  }
  const found = new Set<string>(eligible.map((node) => node.id));
  const missing = (request.node_ids ?? []).filter((id) => !found.has(id));
  if (missing.length > 0) {
    throw new FairleadError("NO_ELIGIBLE_NODES", `${missing.length} of the named nodes cannot take part`, {
      node_ids: missing.slice(0, 20),
    });
  }
  return eligible;
}
