/** Many nodes join the real way: a token from the operators' API, a key of their own, a certificate from the site. */
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import * as https from "node:https";
import { buffer } from "node:stream/consumers";
import { generateNodeKey, requestFor } from "../../src/agent/identity/csr.ts";
import { EnrollResponse } from "../../src/core/protocol/agent-api.ts";
import { EnrollmentTokenResponse } from "../../src/core/protocol/operator-api.ts";
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

const AT_ONCE = 16;
/** The server bounds enrollments per address and minute; machines have an address each, so ours have some too. */
const NODES_PER_ADDRESS = 1_000;

export async function enrollNodes(site: Site, count: number): Promise<EnrolledNode[]> {
  const { rootPem } = await loadOrCreateSiteCa(site.keysDir, systemClock);
  const addresses = Array.from(
    { length: Math.ceil(count / NODES_PER_ADDRESS) },
    (_, at) => `127.0.0.${at + 2}`,
  );
  const agents = addresses.map(
    (localAddress) => new https.Agent({ keepAlive: true, maxSockets: AT_ONCE, ca: rootPem, localAddress }),
  );
  try {
    const names = Array.from({ length: count }, (_, at) => `sim-${String(at).padStart(6, "0")}`);
    return await mapAtOnce(names, AT_ONCE, (name, at) => enrollOne(site, name, agents[at % agents.length]!));
  } finally {
    for (const agent of agents) agent.destroy();
  }
}

async function enrollOne(site: Site, name: string, agent: https.Agent): Promise<EnrolledNode> {
  const wanted = { name, chain_profile_ids: [PROFILE], node_type: NODE_TYPE };
  const { secret } = await site.operators.post("/api/v1/enrollment-tokens", wanted, EnrollmentTokenResponse);
  const key = generateNodeKey();
  const request = https.request(`${site.enrollUrl}/enroll/v1/enroll`, {
    agent,
    method: "POST",
    headers: { "content-type": "application/json" },
  });
  request.end(JSON.stringify({ secret, csr: requestFor(key), name }));
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const body = (await buffer(response)).toString("utf8");
  if (response.statusCode !== 200)
    throw new Error(`enrollment of ${name}: HTTP ${response.statusCode} ${body}`);
  const { node_id, certificate_chain, ca } = EnrollResponse.parse(JSON.parse(body));
  return { nodeId: node_id, key, cert: certificate_chain, ca };
}
