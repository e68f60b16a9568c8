// Pages of revocations on their way to an agent, over its own link and the real listener (SNAP-10).

import { afterAll, beforeAll, expect, test } from "vitest";
import { openLink, type Link } from "../../../src/agent/link/link.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { createAgentListener } from "../../../src/server/agents/listener.ts";
import { createRevokedReader } from "../../../src/server/agents/revoked.ts";
import { registerAgentRoutes } from "../../../src/server/agents/routes.ts";
import { createCertificateRegistry } from "../../../src/server/identity/certificate-registry.ts";
import { startReplicaLease } from "../../../src/server/identity/replica-lease.ts";
import { createServerCertificate } from "../../../src/server/identity/server-certificate.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { openPage } from "../../../src/trust/revocation-page.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { enrolledNode, initializeSite, makeSite } from "../../support/server/site.ts";

let databases: TestDatabases;
let link: Link;
let reader: ReturnType<typeof createRevokedReader>;
let nodeId: Awaited<ReturnType<typeof enrolledNode>>["nodeId"];
const leave: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  databases = await startTestDatabases();
  const { db } = await databases.fresh();
  const site = await makeSite(db);
  await initializeSite(db, site);
  const [clock, log, registry] = [systemClock, silentLogger, createCertificateRegistry(db)];
  const certificate = await createServerCertificate({ ca: site.ca, names: [], clock, log });
  const lease = await startReplicaLease({ db, clock, log, registry });
  const { ca, clusterId } = site;
  const agents = createAgentListener({ clusterId, ca, certificate, registry, lease, clock, log });
  reader = createRevokedReader(db);
  registerAgentRoutes(agents, { db, revocationPage: reader.page } as never);
  const agent_url = await agents.listen({ host: "127.0.0.1", port: 0 });
  const node = await enrolledNode(db, site, "alpha");
  nodeId = node.nodeId;
  await db`
    insert into authority_revocations (kind, subject, actor)
    select 'peer', 'peer-' || n, 'key:alice' from generate_series(1, 1200) as n`;
  link = openLink({
    agent_url,
    ca: ca.rootPem,
    certificate_chain: node.chain,
    private_key: node.key.pem,
  } as Identity);
  leave.push(
    async () => link.close(),
    () => agents.close(),
    () => lease.close(),
    async () => certificate.close(),
    () => site.remove(),
  );
});
afterAll(async () => {
  for (const each of leave) await each();
  await databases.stop();
});

test("SNAP-10: an agent fetches each page that its head names, and a page that no head names is not found", async () => {
  const { pages } = (await reader.read([nodeId])).paged(nodeId);
  expect(pages).toHaveLength(2);
  for (const { digest } of pages)
    expect(openPage(digest, await link.revocationPage(digest))).toHaveLength(500);
  await expect(link.revocationPage(digestOf("nothing"))).rejects.toMatchObject({ code: "NOT_FOUND" });
});
