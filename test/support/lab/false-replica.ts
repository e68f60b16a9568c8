/**
 * A replica of the thief's own, in the place of the real one: the site's own certificates, the real listener for
 * agents, and whatever answers the thief likes. What the agents say back is kept.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ClusterId, NodeId } from "../../../src/core/ids.ts";
import type {
  AppliedVersions,
  Heartbeat,
  PollResponse,
  Rejection,
} from "../../../src/core/protocol/agent-api.ts";
import { sleep, systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createAgentListener } from "../../../src/server/agents/listener.ts";
import type { CertificateStatus } from "../../../src/server/identity/certificate-registry.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createServerCertificate } from "../../../src/server/identity/server-certificate.ts";
import { loadOrCreateSiteCa } from "../../../src/server/identity/site-ca.ts";
import { eventually } from "./eventually.ts";
import type { LabNode } from "./node.ts";

const POLL_MS = 100;
const NOTHING: PollResponse = {
  snapshots: [],
  increments: [],
  head: null,
  commands: [],
  void_intents: [],
};

/** Serial to node. */
export type Certificates = ReadonlyMap<string, NodeId>;

/** Read from the stolen database while it is there. */
export async function certificatesIn(db: Database): Promise<Certificates> {
  const rows = await db<{ serial: string; node_id: NodeId }[]>`select serial, node_id from node_certificates`;
  return new Map(rows.map(({ serial, node_id }) => [serial, node_id]));
}

export interface FalseReplicaOptions {
  readonly dataDir: string;
  readonly clusterId: ClusterId;
  readonly certificates: Certificates;
  readonly port: number;
}

export type FalseReplica = Awaited<ReturnType<typeof startFalseReplica>>;

export async function startFalseReplica({ dataDir, clusterId, certificates, port }: FalseReplicaOptions) {
  const [clock, log] = [systemClock, silentLogger];
  const ca = await loadOrCreateSiteCa(join(dataDir, "keys"), clock);
  const certificate = await createServerCertificate({ ca, names: [], clock, log });
  const known = (serial: string): CertificateStatus => {
    const nodeId = certificates.get(serial);
    return nodeId === undefined ? { kind: "unknown" } : { kind: "good", nodeId };
  };
  const registry = { generation: () => 0, known, look: async (serial: string) => known(serial), forget() {} };
  const lease = { id: "false", isHeld: () => true, onRevoked() {}, close: async () => {} };
  const listener = createAgentListener({ clusterId, ca, certificate, registry, lease, clock, log });

  const answers = new Map<NodeId, PollResponse[]>();
  const said = new Map<NodeId, Rejection>();
  const applied = new Map<NodeId, AppliedVersions>();
  listener.post("/agent/v1/poll", async ({ nodeId }, reply) => {
    await sleep(POLL_MS);
    return answers.get(nodeId)?.shift() ?? reply.code(204).send();
  });
  listener.post("/agent/v1/heartbeat", async ({ nodeId, body }, reply) => {
    const { last_rejection, applied: versions } = body as Heartbeat;
    applied.set(nodeId, versions);
    if (last_rejection !== null) said.set(nodeId, last_rejection);
    return reply.code(204).send();
  });
  listener.post("/agent/v1/reports", async (_request, reply) => reply.code(204).send());
  await listener.listen({ host: "127.0.0.1", port });

  return {
    /** Handed to the node's next polls, one each. */
    answer: (id: NodeId, ...more: readonly Partial<PollResponse>[]): void =>
      void answers.set(id, [...(answers.get(id) ?? []), ...more.map((each) => ({ ...NOTHING, ...each }))]),
    /** What the node says that it refused. */
    refusal: (id: NodeId, code: string): Promise<Rejection> =>
      eventually(`a refusal with ${code}`, async () => {
        const rejection = said.get(id);
        return rejection?.code === code && rejection;
      }),
    /** What the node says that it holds. */
    applied: (id: NodeId): AppliedVersions => applied.get(id) ?? {},
    async close() {
      await listener.close();
      certificate.close();
    },
  };
}

/** Where the node was told to find its control plane. */
export async function portOf({ dataDir }: LabNode): Promise<number> {
  const identity = await readFile(join(dataDir, "identity", "identity.json"), "utf8");
  return Number(new URL((JSON.parse(identity) as { agent_url: string }).agent_url).port);
}
