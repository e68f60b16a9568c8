/** P1's limit: the same decisions and the same rows, without agents, connections and engine. */
import { randomUUID } from "node:crypto";
import { ProfileId, RolloutId, type CommandId, type NodeId } from "../../src/core/ids.ts";
import { RolloutCreateManual } from "../../src/core/rollout/create.ts";
import type { TrustBundle } from "../../src/core/snapshot/trust-bundle.ts";
import { createReportStore } from "../../src/server/agents/reports.ts";
import type { Database } from "../../src/server/db/database.ts";
import { migrate } from "../../src/server/db/migrate.ts";
import { ensureCluster } from "../../src/server/identity/cluster.ts";
import { advanceRollout } from "../../src/server/rollout/advance.ts";
import { createRollout } from "../../src/server/rollout/create.ts";
import { generateSigner } from "../../src/trust/keys.ts";
import { NODE_TYPE, PROFILE } from "../support/enroll.ts";
import { AFTER, BEFORE } from "../support/heartbeat.ts";
import { doneReport } from "./simulated-agent.ts";

/** Nodes per second on an empty database of its own. */
export async function rowsAloneRate(db: Database, nodes: number): Promise<number> {
  await migrate(db);
  const clusterId = await ensureCluster(db);
  const { signer } = generateSigner();
  const authority = { clusterId, signers: () => [signer] as const };
  await insertNodes(db, nodes);
  const id = RolloutId.parse(randomUUID());
  const bundle = async () => ({ intents_required: false }) as TrustBundle;
  const deps = {
    db,
    manifests: { get: () => Promise.reject(new Error("none")) },
    intents: { clusterId, bundle },
    now: Date.now,
  };
  await createRollout(deps, wanted(id), "bench");
  const store = createReportStore(db, () => undefined);

  const began = performance.now();
  await db`insert into rollout_signals (rollout_id, kind, actor, idempotency_key) values (${id}, 'start', 'bench', ${id})`;
  for (let status = "running"; status === "running";) {
    status = (await advanceRollout(
      { db, authority, onCommitted: () => undefined, nudgeGroup: () => undefined },
      id,
    ))!.status;
    const launched = await db<{ node_id: NodeId; command_id: CommandId }[]>`
      select node_id, command_id from rollout_nodes
      where rollout_id = ${id} and status = 'in_progress' and upgrade_phase = 'PREPARING'`;
    await Promise.all(
      launched.map(({ node_id, command_id }) =>
        store({ nodeId: node_id, request: doneReport({ command_id, fingerprint: AFTER.fingerprint }, {}) }),
      ),
    );
    if (status !== "running" && status !== "completed") throw new Error(`the rollout ended ${status}`);
  }
  return nodes / ((performance.now() - began) / 1000);
}

const wanted = (id: RolloutId): RolloutCreateManual =>
  RolloutCreateManual.parse({
    id,
    chain_profile_id: ProfileId.parse(PROFILE),
    node_type: NODE_TYPE,
    source_version: BEFORE.version,
    strategy: "all_at_once",
    batch_size: 1,
    health_wait_seconds: 0,
    binary_name: "simulated",
    target_version: AFTER.version,
    target_binary_url: "https://artifacts.invalid/simulated",
    target_binary_checksum: AFTER.fingerprint,
  });

async function insertNodes(db: Database, nodes: number): Promise<void> {
  await db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'sim-' || n, ${NODE_TYPE}, '{egress_service}', now()
    from generate_series(1, ${nodes}::int) as n`;
  await db`insert into node_profiles (node_id, chain_profile_id) select id, ${PROFILE} from nodes`;
  await db`
    insert into node_config_state (node_id, chain_profile_id, binary_version, fingerprint)
    select id, ${PROFILE}, ${BEFORE.version}, ${BEFORE.fingerprint} from nodes`;
  await db`analyze`;
}
