// The parts of a server around identity and the operators' API, put together as main.ts does, on a test's database.

import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterId, NodeId } from "../../../src/core/ids.ts";
import { FairleadError } from "../../../src/core/errors.ts";
import { EnrollmentTokenRequest } from "../../../src/core/protocol/operator-api.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import { silentLogger, type Logger } from "../../../src/host/log.ts";
import { createAgentListener } from "../../../src/server/agents/listener.ts";
import type { RequestBudget } from "../../../src/server/agents/request-budget.ts";
import { createOperatorsApp } from "../../../src/server/api/app.ts";
import type { OperatorsDeps } from "../../../src/server/api/deps.ts";
import { prepareFirstRun } from "../../../src/server/auth/first-run-secret.ts";
import { createTokenService } from "../../../src/server/auth/tokens.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createCertificateRegistry } from "../../../src/server/identity/certificate-registry.ts";
import { ensureCluster } from "../../../src/server/identity/cluster.ts";
import { EnrollResponse } from "../../../src/core/protocol/agent-api.ts";
import { createEnrollment } from "../../../src/server/identity/enrollment.ts";
import { createEnrollmentToken } from "../../../src/server/identity/enrollment-tokens.ts";
import { createEnrollListener } from "../../../src/server/identity/enroll-listener.ts";
import { createKeyRing } from "../../../src/server/identity/key-ring.ts";
import { loadOrCreateOnlineSigner } from "../../../src/server/identity/online-signer.ts";
import { registerRenewRoute } from "../../../src/server/identity/renewal.ts";
import { confirmTime } from "../../../src/server/clock/confirm.ts";
import { startReplicaLease, type ReplicaLease } from "../../../src/server/identity/replica-lease.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { createServerCertificate } from "../../../src/server/identity/server-certificate.ts";
import { loadOrCreateSiteCa, type SiteCa } from "../../../src/server/identity/site-ca.ts";
import { createKeyService } from "../../../src/server/keys/service.ts";
import { createManifestReader } from "../../../src/server/manifests/reader.ts";
import { createServerMetrics } from "../../../src/server/metrics/server-metrics.ts";
import { loadSecretBox } from "../../../src/server/notify/secret-box.ts";
import { generateSigner, type Signer } from "../../../src/trust/keys.ts";
import { newNodeKey, type NodeKey } from "./agent-client.ts";
import { signTrustBundle } from "./trust-bundle.ts";

export interface Site {
  readonly folder: string;
  readonly keysDir: string;
  readonly firstRunSecretPath: string;
  readonly clusterId: ClusterId;
  readonly ca: SiteCa;
  readonly online: Signer;
  readonly root: Signer;
  remove(): Promise<void>;
}

/** What replicas share: the cluster's row and the keys folder. */
export async function makeSite(db: Database, clock: Clock = systemClock): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-site-"));
  const keysDir = join(folder, "keys");
  const clusterId = await ensureCluster(db);
  const ca = await loadOrCreateSiteCa(keysDir, clock);
  const online = await loadOrCreateOnlineSigner(keysDir);
  const firstRunSecretPath = join(folder, "first-run-secret");
  await prepareFirstRun(db, firstRunSecretPath);
  return {
    folder,
    keysDir,
    firstRunSecretPath,
    clusterId,
    ca,
    online,
    root: generateSigner().signer,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

/** Stores a bundle without the API, for tests that begin after the first run. */
export async function initializeSite(db: Database, site: Site): Promise<void> {
  const { frame, content } = signTrustBundle(site);
  await db`insert into trust_bundles (version, frame, content) values (1, ${frame}, ${db.json(content)})`;
}

export const firstRunSecret = async (site: Site): Promise<string> =>
  (await readFile(site.firstRunSecretPath, "utf8")).trim();

export interface AgentSide {
  readonly lease: ReplicaLease;
  readonly agentUrl: string;
  readonly enrollUrl: string;
  /** Nodes whose polls are open at this replica. */
  readonly polling: ReadonlySet<NodeId>;
  close(): Promise<void>;
}

interface AgentSideOptions {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly budget?: RequestBudget;
  readonly failuresPerMinuteMax?: number;
}

/** One replica's listeners for agents, with a probe route and a long poll that stays open until it is closed. */
export async function startAgentSide(
  db: Database,
  site: Site,
  { clock = systemClock, log = silentLogger, budget, failuresPerMinuteMax }: AgentSideOptions = {},
): Promise<AgentSide> {
  const { ca, clusterId } = site;
  const certificate = await createServerCertificate({ ca, names: [], clock, log });
  const registry = createCertificateRegistry(db);
  const lease = await startReplicaLease({ db, clock, log, registry });
  const agents = createAgentListener({
    clusterId,
    ca,
    certificate,
    registry,
    lease,
    clock,
    log,
    ...(budget && { budget }),
  });
  const polling = new Set<NodeId>();
  registerRenewRoute(agents, { db, clock, ca, clusterId });
  agents.get("/agent/v1/who", async (request) => ({ node_id: request.nodeId }));
  agents.get("/agent/v1/hang", async (request, reply) => {
    polling.add(request.nodeId);
    request.raw.socket.once("close", () => polling.delete(request.nodeId));
    return reply.hijack();
  });
  await agents.listen({ host: "127.0.0.1", port: 0 });
  const agentUrl = `https://127.0.0.1:${(agents.server.address() as AddressInfo).port}`;
  const enrolls = await createEnrollListener({
    db,
    clock,
    log,
    ca,
    clusterId,
    certificate,
    agentUrl: () => agentUrl,
    ...(failuresPerMinuteMax !== undefined && { failuresPerMinuteMax }),
  });
  await enrolls.listen({ host: "127.0.0.1", port: 0 });
  return {
    lease,
    agentUrl,
    polling,
    enrollUrl: `https://127.0.0.1:${(enrolls.server.address() as AddressInfo).port}`,
    async close() {
      await Promise.all([agents.close(), enrolls.close()]);
      await lease.close();
      certificate.close();
    },
  };
}

export interface EnrolledNode {
  readonly nodeId: NodeId;
  readonly key: NodeKey;
  readonly chain: string;
}

/** A node with a good certificate, without the way through the listener. */
export async function enrolledNode(db: Database, site: Site, name: string): Promise<EnrolledNode> {
  const request = EnrollmentTokenRequest.parse({ name, chain_profile_ids: ["web"], node_type: "edge" });
  const { secret } = await createEnrollmentToken(db, request, "key:boss");
  const key = await newNodeKey();
  const deps = {
    db,
    clock: systemClock,
    ca: site.ca,
    clusterId: site.clusterId,
    agentUrl: () => "https://127.0.0.1",
  };
  const answer = await createEnrollment(deps)({ secret, csr: key.csr, name }, "127.0.0.1");
  const { node_id, certificate_chain } = EnrollResponse.parse(answer);
  return { nodeId: node_id, key, chain: certificate_chain };
}

const notBuilt = async (): Promise<never> => {
  throw new FairleadError("NOT_FOUND", "no rollouts in this test");
};

export async function operatorsDeps(
  db: Database,
  site: Site,
  changes: Partial<OperatorsDeps> = {},
): Promise<OperatorsDeps> {
  const { clusterId, ca, firstRunSecretPath, keysDir } = site;
  const ring = await createKeyRing({ db, keysDir, clusterId, log: silentLogger });
  return {
    db,
    clock: systemClock,
    log: silentLogger,
    metrics: createServerMetrics(),
    clusterId,
    ca,
    ring,
    keys: createKeyService({ db, clock: systemClock, ring }),
    firstRunSecretPath,
    tokens: await createTokenService(keysDir, clusterId, systemClock),
    oidc: null,
    enrollUrl: () => "https://127.0.0.1:7402",
    manifests: createManifestReader(() => join(site.folder, "config")),
    rollouts: {
      create: notBuilt,
      list: async () => ({ rollouts: [], next_cursor: null }),
      get: notBuilt,
      nodes: notBuilt,
      signal: notBuilt,
    },
    groups: {
      create: notBuilt,
      list: async () => ({ groups: [], next_cursor: null }),
      get: notBuilt,
      signal: notBuilt,
    },
    webhooks: { db, box: await loadSecretBox(keysDir), allowPrivate: true },
    events: { subscribe: async function* () {} },
    revokeNode: (id, actor, reason) => revokeNode(db, id, actor, reason),
    confirmTime: (request, actor) =>
      confirmTime(
        { db, now: Date.now, watch: { look: async () => {}, problem: () => null } },
        request,
        actor,
      ),
    ready: async () => ({ ready: true, reasons: [] }),
    listenHost: "127.0.0.1",
    version: "0.0.0-test",
    ...changes,
  };
}

export const startOperators = async (db: Database, site: Site, changes: Partial<OperatorsDeps> = {}) =>
  createOperatorsApp(await operatorsDeps(db, site, changes));

export const newId = (): string => randomUUID();
