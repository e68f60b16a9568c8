/** The nodes a rollout takes: live, of the profile and type, at the source version; or exactly those it names. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { RolloutCreate } from "../../core/rollout/create.ts";
import type { Transaction } from "../db/database.ts";

export async function eligibleNodes(tx: Transaction, request: RolloutCreate): Promise<{ id: NodeId }[]> {
  const eligible = await tx<{ id: NodeId }[]>`
    select n.id from nodes n
    join node_config_state state on state.node_id = n.id and state.chain_profile_id = n.chain_profile_id
    where n.chain_profile_id = ${request.chain_profile_id} and n.node_type = ${request.node_type}
      and n.enrolled_at is not null and n.revoked_at is null and n.state in ('active', 'degraded')
      and state.binary_version = ${request.source_version}
      ${request.node_ids === undefined ? tx`` : tx`and n.id = any(${request.node_ids})`}
    order by n.id`;
  if (eligible.length === 0) {
    throw new FairleadError(
      "NO_ELIGIBLE_NODES",
      `no node of ${request.chain_profile_id}/${request.node_type} runs version ${request.source_version}`,
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
