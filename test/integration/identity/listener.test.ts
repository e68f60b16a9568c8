// Whom the agents' listener lets in, and whom it does not.

import { randomUUID } from "node:crypto";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as tls from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ClusterId, NodeId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { RenewResponse } from "../../../src/core/protocol/agent-api.ts";
import { systemClock, type Clock } from "../../../src/host/clock.ts";
import type { Database } from "../../../src/server/db/database.ts";
import { issueLeaf, type LeafRequest } from "../../../src/server/identity/certificates.ts";
import { issueNodeCertificate, nodeUri } from "../../../src/server/identity/node-certificate.ts";
import { readSigningRequest } from "../../../src/server/identity/signing-request.ts";
import { loadOrCreateSiteCa, type SiteCa } from "../../../src/server/identity/site-ca.ts";
import { createRequestBudget } from "../../../src/server/agents/request-budget.ts";
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

let databases: TestDatabases;
let db: Database;
let site: Site;
let side: AgentSide;
let key: NodeKey;
let nodeId: NodeId;
let chain: string;

/** The wall clock of the listener can be moved; the lease goes by the other one. */
let offsetMs = 0;
const clock: Clock = { now: () => systemClock.now() + offsetMs, monotonic: () => systemClock.monotonic() };

beforeAll(async () => {
  databases = await startTestDatabases();
  ({ db } = await databases.fresh());
  site = await makeSite(db);
  await initializeSite(db, site);
  side = await startAgentSide(db, site, { clock });
  ({ key, nodeId, chain } = await enrolledNode(db, site, "alpha"));
});
afterAll(async () => {
  await side.close();
  await site.remove();
  await databases.stop();
});

const who = (options: { cert?: string; key?: string }) =>
  ask(`${side.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, ...options });

async function leaf(issuer: SiteCa["agent"], changes: Partial<LeafRequest> = {}): Promise<string> {
  const { spki } = await readSigningRequest(key.csr);
  const certificate = await issueLeaf(issuer, {
    commonName: nodeId,
    names: [{ type: "url", value: nodeUri(site.clusterId, nodeId) }],
    usage: "client",
    spki,
    now: Date.now(),
    lifetimeMs: 60_000,
    ...changes,
  });
  return `${certificate.toString("pem")}\n${issuer.certificatePem}`;
}

test("a node's own certificate is let in", async () => {
  expect(await who({ cert: chain, key: key.pem })).toMatchObject({ status: 200, body: { node_id: nodeId } });
});

test("SNAP-16: a body beyond the bound of the agents' listener is refused before it is read", async () => {
  const json = { csr: "A".repeat(LIMITS.agentRequestBytesMax) };
  const answer = await ask(`${side.agentUrl}/agent/v1/renew`, {
    ca: site.ca.rootPem,
    cert: chain,
    key: key.pem,
    json,
  });
  expect(answer).toMatchObject({ status: 413, body: { error: { code: "PAYLOAD_TOO_LARGE" } } });
});

describe("TLS itself refuses", () => {
  const refusals: readonly (readonly [string, () => Promise<{ cert?: string; key?: string }>])[] = [
    ["a connection without a certificate", async () => ({})],
    [
      "a peer's certificate with a node's name",
      async () => ({ cert: await leaf(site.ca.peer), key: key.pem }),
    ],
    [
      "a server's certificate with a node's name",
      async () => ({ cert: await leaf(site.ca.server, { usage: "server" }), key: key.pem }),
    ],
    [
      "a server authority's certificate for clients",
      async () => ({ cert: await leaf(site.ca.server), key: key.pem }),
    ],
    [
      "an agent authority's certificate for servers",
      async () => ({ cert: await leaf(site.ca.agent, { usage: "server" }), key: key.pem }),
    ],
    [
      "an expired certificate",
      async () => ({
        cert: await leaf(site.ca.agent, { now: Date.now() - 3_600_000, lifetimeMs: 60_000 }),
        key: key.pem,
      }),
    ],
    [
      "a certificate of another site",
      async () => {
        const folder = await mkdtemp(join(tmpdir(), "fairlead-other-"));
        const other = await loadOrCreateSiteCa(join(folder, "keys"), systemClock);
        await rm(folder, { recursive: true });
        return { cert: await leaf(other.agent), key: key.pem };
      },
    ],
  ];
  test.each(refusals)("%s", async (_what, credentials) => {
    await expect(who(await credentials())).rejects.toThrow();
  });
});

describe("the listener refuses", () => {
  test("a certificate of the right authority that is in no row", async () => {
    expect(codeOf(await who({ cert: await leaf(site.ca.agent), key: key.pem }))).toBe("CERTIFICATE_REFUSED");
  });

  test("a row's serial under another node's name", async () => {
    const { spki, keyHash } = await readSigningRequest(key.csr);
    const other = issueNodeCertificate(
      site.ca,
      site.clusterId,
      NodeId.parse(randomUUID()),
      { spki, keyHash },
      Date.now(),
    );
    await db`insert into node_certificates (serial, node_id, key_hash, chain_pem, not_after)
             values (${other.serial}, ${nodeId}, 'x', 'x', now() + interval '1 day')`;
    expect(codeOf(await who({ cert: other.chainPem, key: key.pem }))).toBe("CERTIFICATE_REFUSED");
  });

  test.each([
    [
      "another cluster",
      () => [{ type: "url", value: nodeUri(ClusterId.parse(randomUUID()), nodeId) }] as const,
    ],
    ["a peer", () => [{ type: "url", value: `fairlead://${site.clusterId}/peer/${nodeId}` }] as const],
    [
      "a node and something else",
      () =>
        [
          { type: "url", value: nodeUri(site.clusterId, nodeId) },
          { type: "dns", value: "x" },
        ] as const,
    ],
    ["a host", () => [{ type: "dns", value: "localhost" }] as const],
  ])("a certificate that names %s", async (_what, names) => {
    expect(codeOf(await who({ cert: await leaf(site.ca.agent, { names: names() }), key: key.pem }))).toBe(
      "CERTIFICATE_REFUSED",
    );
  });

  test("a certificate that expires while its connection is open", async () => {
    const { Agent } = await import("node:https");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const once = () =>
      ask(`${side.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, cert: chain, key: key.pem, agent });
    expect((await once()).status).toBe(200);
    offsetMs = LIMITS.nodeCertificateLifetimeMs + 1_000;
    // The lease counts by both clocks: one renewal after the jump makes it held again.
    await expect.poll(() => side.lease.isHeld(), { timeout: 5_000 }).toBe(true);
    expect(codeOf(await once())).toBe("CERTIFICATE_REFUSED");
    offsetMs = 0;
    agent.destroy();
  });

  test("an unknown address, in the one form of errors", async () => {
    const answer = await ask(`${side.agentUrl}/agent/v1/nowhere`, {
      ca: site.ca.rootPem,
      cert: chain,
      key: key.pem,
    });
    expect(codeOf(answer)).toBe("NOT_FOUND");
  });
});

test("a node beyond its budget is answered 429 with Retry-After on every connection, and another node is not", async () => {
  let now = 0;
  const budget = createRequestBudget(1, 2);
  const bounded = await startAgentSide(db, site, { budget: { take: (id) => budget.take(id, now) } });
  const other = await enrolledNode(db, site, "beta");
  const asks = (cert: string, pem: string) =>
    ask(`${bounded.agentUrl}/agent/v1/who`, { ca: site.ca.rootPem, cert, key: pem });
  try {
    const answers = [];
    for (let count = 0; count < 3; count += 1) answers.push(await asks(chain, key.pem));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(codeOf(answers[2]!)).toBe("TOO_MANY_REQUESTS");
    expect(answers[2]!.headers["retry-after"]).toBe("1");
    expect((await asks(other.chain, other.key.pem)).status).toBe(200);
    now += 1_000;
    expect((await asks(chain, key.pem)).status).toBe(200);
  } finally {
    await bounded.close();
  }
});

test("no session is resumed: every connection shows its certificate", async () => {
  const { hostname, port } = new URL(side.agentUrl);
  const options = { host: hostname, port: Number(port), ca: site.ca.rootPem, cert: chain, key: key.pem };
  const sessions: Buffer[] = [];
  const isResumed = (session?: Buffer) =>
    new Promise<boolean>((resolve, reject) => {
      let reused = false;
      const socket = tls.connect({ ...options, ...(session === undefined ? {} : { session }) }, () => {
        reused = socket.isSessionReused();
        socket.write("GET /agent/v1/who HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
      });
      socket.on("session", (ticket) => sessions.push(ticket));
      socket.on("error", reject);
      socket.once("close", () => resolve(reused));
      socket.resume();
    });
  expect(await isResumed()).toBe(false);
  expect(sessions.length).toBeGreaterThan(0);
  for (const session of sessions.slice()) expect(await isResumed(session)).toBe(false);
});

describe("renewal", () => {
  const renew = (csr: string) =>
    ask(`${side.agentUrl}/agent/v1/renew`, { ca: site.ca.rootPem, cert: chain, key: key.pem, json: { csr } });

  test("a node renews with a new key, and both certificates work until the old one ends", async () => {
    const next = await newNodeKey();
    const answer = await renew(next.csr);
    const { certificate_chain } = RenewResponse.parse(answer.body);
    expect(await who({ cert: certificate_chain, key: next.pem })).toMatchObject({
      status: 200,
      body: { node_id: nodeId },
    });
    expect((await who({ cert: chain, key: key.pem })).status).toBe(200);
  });

  test("a broken signing request is refused, and a field that the server does not know changes nothing", async () => {
    expect(codeOf(await renew("nonsense"))).toBe("INVALID_INPUT");
    const next = await newNodeKey();
    const extra = await ask(`${side.agentUrl}/agent/v1/renew`, {
      ca: site.ca.rootPem,
      cert: chain,
      key: key.pem,
      json: { csr: next.csr, node_id: randomUUID() },
    });
    const { certificate_chain: cert } = RenewResponse.parse(extra.body);
    expect(await who({ cert, key: next.pem })).toMatchObject({ body: { node_id: nodeId } });
  });

  test("a node that renews again and again is told to stop", async () => {
    const flooder = await enrolledNode(db, site, "flooder");
    const codes: string[] = [];
    for (let i = 0; i < 25; i++) {
      codes.push(
        codeOf(
          await ask(`${side.agentUrl}/agent/v1/renew`, {
            ca: site.ca.rootPem,
            cert: flooder.chain,
            key: flooder.key.pem,
            json: { csr: flooder.key.csr },
          }),
        ),
      );
    }
    expect(codes.filter((code) => code === "HTTP 200")).toHaveLength(20);
    expect(codes.at(-1)).toBe("TOO_MANY_REQUESTS");
  });
});

test("replicas that start at once on one folder share one authority, in a file of its owner only", async () => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-ca-"));
  const keysDir = join(folder, "keys");
  const authorities = await Promise.all([1, 2, 3, 4].map(() => loadOrCreateSiteCa(keysDir, systemClock)));
  expect(new Set(authorities.map(({ pin }) => pin)).size).toBe(1);
  expect((await stat(join(keysDir, "site-ca.json"))).mode & 0o777).toBe(0o600);
  await rm(folder, { recursive: true });
});
