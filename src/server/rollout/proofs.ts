/** What shows each node of a rollout that the intent names it; written when the rollout is created. */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { MerkleProof } from "../../core/protocol/intent.ts";
import type { Transaction } from "../db/database.ts";

export async function proofsOf(
  tx: Transaction,
  rolloutId: RolloutId,
  nodeIds: readonly NodeId[],
): Promise<Map<NodeId, MerkleProof>> {
  const rows = await tx<{ node_id: NodeId; proof: MerkleProof }[]>`
    select node_id, proof from rollout_proofs where rollout_id = ${rolloutId} and node_id = any(${nodeIds})`;
  return new Map(rows.map(({ node_id, proof }) => [node_id, proof]));
}
