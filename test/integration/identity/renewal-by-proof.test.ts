// A certificate out of its time: the key of it asks for the next one over the enrollment listener (SNAP-17).

import { sign, X509Certificate } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { renewByProof } from "../../../src/agent/identity/renew-by-proof.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import type { NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { RENEWAL_PROOF_DOMAIN, RenewResponse } from "../../../src/core/protocol/agent-api.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { createCertificateRegistry } from "../../../src/server/identity/certificate-registry.ts";
import { issueNodeCertificate } from "../../../src/server/identity/node-certificate.ts";
import { revokeNode } from "../../../src/server/identity/revocation.ts";
import { readSigningRequest } from "../../../src/server/identity/signing-request.ts";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { ask, codeOf, newNodeKey, type NodeKey } from "../../support/server/agent-client.ts";
import {
  enrolledNode,
  initializeSite,
  makeSite,
  startAgentSide,
  type AgentSide,
  type Site,
} from "../../support/server/site.ts";

const DAY_MS = 24 * 3_600_000;

let databases: TestDatabases;
let db: Database;
let site: Site;
let side: AgentSide;
let key: NodeKey;
let nodeId: NodeId;
let names = 0;
const clock: Clock = systemClock;

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  side = await startAgentSide(db, site, { clock });
});
beforeEach(async () => void ({ key, nodeId } = await enrolledNode(db, site, `node-${(names += 1)}`)));
afterAll(async () => {
  await side.close();
  await site.remove();
  await databases.stop();
});

/** Of this node's key, issued at that time, and in its row. */
async function certificateOf(issuedAt: number, { stored = true } = {}): Promise<string> {
  const requested = await readSigningRequest(key.csr);
  const made = issueNodeCertificate(site.ca, site.clusterId, nodeId, requested, issuedAt);
  if (stored)
    await db`
      insert into node_certificates (serial, node_id, key_hash, chain_pem, not_after)
      values (${made.serial}, ${nodeId}, ${requested.keyHash}, ${made.chainPem}, ${made.notAfter})`;
  return made.chainPem;
}

const agedMs = (ms: number) => Date.now() - LIMITS.nodeCertificateLifetimeMs - ms;

async function renew(certificate: string, { by = key, csr }: { by?: NodeKey; csr?: string } = {}) {
  const asked = csr ?? (await newNodeKey()).csr;
  const proof = sign("sha256", Buffer.from(`${RENEWAL_PROOF_DOMAIN}${asked}`), by.pem).toString("base64");
  return ask(`${side.enrollUrl}/enroll/v1/renew`, {
    ca: site.ca.rootPem,
    json: { csr: asked, certificate, proof },
  });
}

const who = (cert: string, pem: string) =>
  ask(`${side.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, cert, key: pem });

test.each<[string, () => number]>([
  ["expired a month ago", () => agedMs(31 * DAY_MS)],
  ["was issued by a clock 400 days ahead", () => Date.now() + 400 * DAY_MS],
])(
  "SNAP-17: a node whose certificate %s is let in nowhere, and gets the next one by a proof",
  async (_when, issuedAt) => {
    const chain = await certificateOf(issuedAt());
    await expect(who(chain, key.pem)).rejects.toThrow();
    const next = await newNodeKey();
    const identity = { ca: site.ca.rootPem, private_key: key.pem, certificate_chain: chain } as Identity;
    const renewed = await renewByProof(side.enrollUrl, identity, next.csr, {
      isNeeded: () => false,
      notBeforeMs: () => 0,
    });
    expect(await who(renewed, next.pem)).toMatchObject({ status: 200, body: { node_id: nodeId } });
  },
);

test("SNAP-17: a certificate that ended too long ago proves nothing any more", async () => {
  expect(codeOf(await renew(await certificateOf(agedMs(LIMITS.nodeCertificateGraceMs + DAY_MS))))).toBe(
    "CERTIFICATE_REFUSED",
  );
});

test("SNAP-17: a proof by another key, or over another request, is refused", async () => {
  const chain = await certificateOf(agedMs(DAY_MS));
  expect(codeOf(await renew(chain, { by: await newNodeKey() }))).toBe("CERTIFICATE_REFUSED");
  const overheard = await newNodeKey();
  const proof = sign("sha256", Buffer.from(`${RENEWAL_PROOF_DOMAIN}${overheard.csr}`), key.pem);
  const answer = await ask(`${side.enrollUrl}/enroll/v1/renew`, {
    ca: site.ca.rootPem,
    json: { csr: (await newNodeKey()).csr, certificate: chain, proof: proof.toString("base64") },
  });
  expect(codeOf(answer)).toBe("CERTIFICATE_REFUSED");
});

test("SNAP-17: a certificate that is in no row, of another authority, or no certificate at all is refused", async () => {
  expect(codeOf(await renew(await certificateOf(agedMs(DAY_MS), { stored: false })))).toBe(
    "CERTIFICATE_REFUSED",
  );
  expect(codeOf(await renew(site.ca.server.certificatePem))).toBe("CERTIFICATE_REFUSED");
  expect(codeOf(await renew("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----"))).toBe(
    "CERTIFICATE_REFUSED",
  );
});

test("SNAP-17: a revoked node gets no certificate by a proof", async () => {
  const chain = await certificateOf(agedMs(DAY_MS));
  await revokeNode(db, nodeId, "key:alice", "stolen");
  expect(codeOf(await renew(chain))).toBe("NODE_REVOKED");
});

test("SNAP-17: a request whose own signature is not by the key that it names is refused", async () => {
  const chain = await certificateOf(agedMs(DAY_MS));
  const answer = await renew(chain, { csr: "not a request" });
  expect(codeOf(answer)).toBe("INVALID_INPUT");
  expect(RenewResponse.safeParse(answer.body).success).toBe(false);
});

test("SNAP-17: a certificate that is still in its time renews over its own connection, not by a proof", async () => {
  const chain = await certificateOf(Date.now() - DAY_MS);
  expect(codeOf(await renew(chain))).toBe("CERTIFICATE_REFUSED");
  expect((await who(chain, key.pem)).status).toBe(200);
});

test("SNAP-17: a proof by a certificate is refused once a later one of its node was used, and not before", async () => {
  const chain = await certificateOf(agedMs(DAY_MS));
  await renew(chain); // its answer is lost
  const next = await newNodeKey();
  const answer = await renew(chain, { csr: next.csr });
  const { certificate_chain } = RenewResponse.parse(answer.body);
  expect((await who(certificate_chain, next.pem)).status).toBe(200);
  expect(codeOf(await renew(chain))).toBe("CERTIFICATE_REFUSED");
});

test("SNAP-17: of two used certificates out of their time, only the one that was used last gets the next by a proof", async () => {
  const uses = async () => {
    const issued = await certificateOf(agedMs(DAY_MS));
    const serial = new X509Certificate(issued).serialNumber.toLowerCase();
    await createCertificateRegistry(db).look(serial);
    return issued;
  };
  const [replaced, present] = [await uses(), await uses()];
  expect(codeOf(await renew(replaced))).toBe("CERTIFICATE_REFUSED");
  expect((await renew(present)).status).toBe(200);
});
