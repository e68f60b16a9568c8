/** Many nodes join the real way: an enrollment key from the operators' API, a key of their own, a certificate from the site. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import { buffer } from "node:stream/consumers";
import { generateNodeKey, requestFor } from "../../src/agent/identity/csr.ts";
import { EnrollResponse } from "../../src/core/protocol/agent-api.ts";
import { EnrollmentKeyCreated } from "../../src/core/protocol/enrollment-key-api.ts";
import { systemClock } from "../../src/host/clock.ts";
import { loadOrCreateSiteCa } from "../../src/server/identity/site-ca.ts";
import type { Site } from "./site.ts";
import { mapAtOnce } from "./statistics.ts";

export const PROFILE = "bench";
export const NODE_TYPE = "simulated";

export interface EnrolledNode {
  readonly nodeId: string;
  readonly key: string;
  readonly cert: string;
  readonly ca: string;
}

/** Machines ask on their own; these ask so many at once. */
const AT_ONCE = 64;
/** One enrollment key's most. */
const NODES_PER_KEY = 10_000;

export interface Asking {
  readonly name: string;
  readonly key: string;
  /** As it goes over the wire. */
  readonly body: string;
}

export async function enrollNodes(site: Site, count: number): Promise<EnrolledNode[]> {
  const asking = await prepareNodes(site, count);
  return askAll(site, asking, { keepAlive: true });
}

/** Keys and signing requests, made before anybody asks. */
export async function prepareNodes(site: Site, count: number, prefix = "sim"): Promise<Asking[]> {
  const names = Array.from({ length: count }, (_, at) => `${prefix}-${String(at).padStart(6, "0")}`);
  const secrets = await Promise.all(
    Array.from({ length: Math.ceil(count / NODES_PER_KEY) }, async (_, at) =>
      secretOf(site, `${prefix}-${at}`),
    ),
  );
  return names.map((name, at) => {
    const key = generateNodeKey();
    const secret = secrets[Math.floor(at / NODES_PER_KEY)]!;
    return { name, key, body: JSON.stringify({ secret, csr: requestFor(key), name }) };
  });
}

/** On kept connections, or each on one of its own, as a machine does. */
export async function askAll(
  site: Site,
  asking: readonly Asking[],
  { keepAlive }: { readonly keepAlive: boolean },
): Promise<EnrolledNode[]> {
  const { rootPem: ca } = await loadOrCreateSiteCa(site.keysDir, systemClock);
  const agent = new https.Agent({ keepAlive, maxSockets: AT_ONCE, maxCachedSessions: 0, ca });
  try {
    return await mapAtOnce(asking, AT_ONCE, (one) => askOne(site, one, agent));
  } finally {
    agent.destroy();
  }
}

async function secretOf(site: Site, name: string): Promise<string> {
  const request = { name, chain_profile_ids: [PROFILE], node_type: NODE_TYPE, uses_max: NODES_PER_KEY };
  return (await site.operators.post("/api/v1/enrollment-keys", request, EnrollmentKeyCreated)).secret;
}

async function askOne(site: Site, { name, key, body }: Asking, agent: https.Agent): Promise<EnrolledNode> {
  const request = https.request(`${site.enrollUrl}/enroll/v1/enroll`, {
    agent,
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  request.end(body);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const text = (await buffer(response)).toString("utf8");
  if (response.statusCode !== 200)
    throw new Error(`enrollment of ${name}: HTTP ${response.statusCode} ${text}`);
  const { node_id, certificate_chain, ca } = EnrollResponse.parse(JSON.parse(text));
  return { nodeId: node_id, key, cert: certificate_chain, ca };
}
