/**
 * Artifacts and runs that were revoked (SNAP-10): no rollout of them is made, and none that was made before is launched.
 * The nodes refuse them too; this keeps commands from being signed for them.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, NodeId, RolloutId } from "../../core/ids.ts";
import type { Launch } from "../../core/rollout/decision.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { runDigest } from "../../trust/intent.ts";
import type { Transaction } from "../db/database.ts";
import type { Isolated } from "./isolate.ts";

interface Revoked {
  readonly kind: "artifact" | "run";
  readonly subject: Digest;
  readonly seq: number;
}

const refusal = ({ kind, subject, seq }: Revoked, whom: string): FairleadError =>
  new FairleadError("AUTHORITY_REVOKED", `${kind} ${subject} is revoked for ${whom} (revocation ${seq})`, {
    kind,
    subject,
    revocation: seq,
  });

/** Codes: AUTHORITY_REVOKED when one of the nodes may not run it. */
export async function refuseRevoked(
  tx: Transaction,
  { fingerprint, run }: { readonly fingerprint: Digest; readonly run: RunSpec },
  nodeIds: readonly NodeId[],
): Promise<void> {
  const [found] = await tx<(Revoked & { name: string | null })[]>`
    select v.kind, v.subject, v.seq, n.name from authority_revocations v left join nodes n on n.id = v.node_id
    where (v.kind, v.subject) in (('artifact', ${fingerprint}), ('run', ${runDigest(run)}))
      and (v.node_id is null or v.node_id = any(${nodeIds}))
    order by v.node_id nulls first, v.seq limit 1`;
  if (found !== undefined) throw refusal(found, found.name === null ? "every node" : `node ${found.name}`);
}

/** A way back runs as its node recorded it, which the node compares itself. */
export async function revokedLaunches(
  tx: Transaction,
  rolloutId: RolloutId,
  launches: readonly Launch[],
): Promise<Isolated<Launch, never>["failed"]> {
  if (launches.length === 0) return [];
  const [rollout] = await tx<{ run: RunSpec }[]>`select run from rollouts where id = ${rolloutId}`;
  const rows = launches.map(({ nodeId, direction }) => ({ node_id: nodeId, direction }));
  const found = await tx<(Revoked & { node_id: NodeId })[]>`
    select distinct on (l.node_id) l.node_id, v.kind, v.subject, v.seq
    from jsonb_to_recordset(${tx.json(rows)}) as l(node_id uuid, direction text)
    join rollout_nodes rn on rn.rollout_id = ${rolloutId} and rn.node_id = l.node_id
    join rollouts r on r.id = rn.rollout_id
    join authority_revocations v on (v.node_id is null or v.node_id = l.node_id) and (
      (v.kind = 'artifact' and v.subject = case l.direction when 'forward' then r.target_binary_checksum
        else rn.previous_checksum end)
      or (v.kind = 'run' and v.subject = ${runDigest(rollout!.run)} and l.direction = 'forward'))
    order by l.node_id, v.seq`;
  const byNode = new Map(found.map((row) => [row.node_id, row]));
  return launches.flatMap((item) => {
    const row = byNode.get(item.nodeId);
    return row === undefined ? [] : [{ item, error: refusal(row, "this node") }];
  });
}
