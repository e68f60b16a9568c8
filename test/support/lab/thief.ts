/**
 * Somebody who stole every replica and the online key (SNAP-15): writes what it likes into the database and signs it
 * as the control plane. Only the operators' keys are not among its loot.
 */
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ClusterId, type NodeId } from "../../../src/core/ids.ts";
import type { MerkleProof } from "../../../src/core/protocol/intent.ts";
import { sleep } from "../../../src/host/clock.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { notifyNodes } from "../../../src/server/rollout/wake.ts";
import { storeContents } from "../../../src/server/snapshots/contents.ts";
import { storeSnapshots } from "../../../src/server/snapshots/stored.ts";
import { canonicalBytes } from "../../../src/trust/canonical-json.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { signerFromPem } from "../../../src/trust/keys.ts";
import { eventually } from "./eventually.ts";
import { forgeAssignment, forgeCommand, type Forger, type Lie, type Victim } from "./forge.ts";
import type { Lab } from "./lab.ts";

export async function thief({ dataDir, operator }: Lab, db: Database) {
  const [cluster] = await db<{ id: string; epoch: number }[]>`select id, epoch from clusters`;
  const forger: Forger = {
    clusterId: ClusterId.parse(cluster!.id),
    epoch: cluster!.epoch,
    signer: signerFromPem(await readFile(join(dataDir, "keys", "online-key.pem"), "utf8")),
  };

  /** The next sequence and version of a node, as the server itself would take them. */
  async function victim(name: string): Promise<Victim> {
    const [row] = await db<Victim[]>`
      update nodes n set command_sequence = command_sequence + 1 where name = ${name}
      returning id, roles, command_sequence as sequence, 1 + coalesce((
        select config_version from snapshots s where s.node_id = n.id and s.scope_type = 'service_assignment'), 0) as version`;
    return row!;
  }

  const wake = (id: NodeId) => db.begin(async (tx) => notifyNodes(tx, [id]));

  /** Nothing is on offer any more: a node that keeps refusing asks ever more seldom. */
  const withdraw = async (name: string): Promise<void> =>
    void (await db`
      update commands c set answered_at = now() from nodes n
      where n.id = c.node_id and n.name = ${name} and c.answered_at is null`);

  /** What the agent polls for next. */
  async function offer(id: NodeId, rolloutId: string, sequence: number, frame: Buffer): Promise<void> {
    await db`
      insert into rollout_nodes (rollout_id, node_id, batch_index, status)
      values (${rolloutId}, ${id}, 0, 'skipped') on conflict do nothing`;
    await db`
      insert into rollout_proofs (rollout_id, node_id, proof)
      values (${rolloutId}, ${id}, ${db.json([] satisfies MerkleProof)}) on conflict do nothing`;
    await db`
      insert into commands (command_id, node_id, rollout_id, sequence, frame, expires_at)
      values (${randomUUID()}, ${id}, ${rolloutId}, ${sequence}, ${frame}, now() + interval '15 minutes')`;
    await wake(id);
  }

  async function assign(lie: Lie): Promise<Victim> {
    const next = await victim(lie.node);
    const { header, frame } = forgeAssignment(forger, lie, next);
    const parts = decodeFrame(frame);
    const snapshot = {
      nodeId: next.id,
      scope: "service_assignment" as const,
      header,
      headerBytes: parts.header,
      content: parts.content,
      signatures: canonicalBytes(parts.signatures),
      increment: null,
    };
    await db.begin(async (tx) => {
      await storeContents(tx, [{ content: { content_hash: header.content_hash, bytes: parts.content } }]);
      await storeSnapshots(tx, [snapshot]);
      // Or the control plane, which renews what grows old, would put the truth in its place.
      await tx`
        update snapshots set refresh_after = now() + interval '1 day'
        where node_id = ${next.id} and scope_type = 'service_assignment'`;
    });
    await wake(next.id);
    return next;
  }

  /** The node has taken it while it was valid, and it is not any more. */
  async function assignUntilExpired(lie: Lie & { readonly assignmentLifetimeMs: number }): Promise<Victim> {
    const [next, end] = await eventually("an assignment is applied while it is valid", async () => {
      const [tried, until] = [await assign(lie), Date.now() + lie.assignmentLifetimeMs];
      for (; Date.now() < until; await sleep(50)) {
        const { applied } = await operator.node(lie.node);
        if (applied.service_assignment?.version === tried.version) return [tried, until] as const;
      }
      return undefined; // it came too late: another one
    });
    await eventually("the assignment has expired", () => Date.now() > end);
    return next;
  }

  const command = (lie: Lie, next: Victim): Promise<void> =>
    offer(next.id, lie.rolloutId, next.sequence, forgeCommand(forger, lie, next));

  return {
    forger,
    assignUntilExpired,
    command,
    withdraw,
    lie: async (lie: Lie): Promise<void> => command(lie, await assign(lie)),
    /** A command that the node has carried out, byte for byte, offered as if it were new. */
    async replay(node: string, rolloutId: string): Promise<void> {
      const { id, sequence } = await victim(node);
      const [row] = await db<{ frame: Buffer }[]>`
        select frame from commands where node_id = ${id} and rollout_id = ${rolloutId} order by sequence limit 1`;
      await offer(id, rolloutId, sequence, row!.frame);
    },
  };
}
