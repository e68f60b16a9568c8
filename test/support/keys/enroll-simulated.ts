// Many simulated agents join the real way: a token from the operators' API, a key of their own, a certificate.

import { join } from "node:path";
import { generateNodeKey, requestFor } from "../../../src/agent/identity/csr.ts";
import type { Identity } from "../../../src/agent/identity/store.ts";
import { EnrollResponse } from "../../../src/core/protocol/agent-api.ts";
import { Digest } from "../../../src/core/ids.ts";
import { createHttpClient, jsonOf, type HttpClient } from "../../../src/host/bounded-http.ts";
import { systemClock } from "../../../src/host/clock.ts";
import { loadOrCreateSiteCa } from "../../../src/server/identity/site-ca.ts";
import { digestOf } from "../../../src/trust/digest.ts";
import { parseToken } from "../../../src/trust/pins.ts";
import { openBundle } from "../../../src/cli/keys/believe.ts";
import type { Lab } from "../lab/lab.ts";
import { simulateAgent, type SimulatedAgent } from "./simulated-agent.ts";

const AT_ONCE = 8;

export async function enrollSimulated(lab: Lab, names: readonly string[]): Promise<SimulatedAgent[]> {
  const client = await enrollmentClient(lab);
  const waiting = [...names];
  const agents: SimulatedAgent[] = [];

  async function enrollOne(name: string): Promise<void> {
    const { identity, firstBundle } = await enrollIdentity(lab, client, name);
    agents.push(simulateAgent(name, identity, firstBundle));
  }

  async function enrollSome(): Promise<void> {
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await enrollOne(name);
  }
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, enrollSome));
  } finally {
    client.close();
  }
  return agents;
}

export async function enrollmentClient(lab: Lab): Promise<HttpClient> {
  const { rootPem } = await loadOrCreateSiteCa(join(lab.dataDir, "keys"), systemClock);
  return createHttpClient({ origin: new URL(lab.enrollUrl).origin, tls: { ca: rootPem } });
}

export async function enrollIdentity(
  lab: Lab,
  client: HttpClient,
  name: string,
  { profile = "hello", nodeType = "simulated" }: { profile?: string; nodeType?: string } = {},
): Promise<{ readonly identity: Identity; readonly firstBundle: Buffer }> {
  const { secret } = parseToken(await lab.operator.enrollmentToken(name, profile, nodeType));
  const key = generateNodeKey();
  const response = await client.request("/enroll/v1/enroll", {
    method: "POST",
    json: { secret, csr: requestFor(key), name },
  });
  const made = EnrollResponse.parse(jsonOf(response));
  const firstBundle = Buffer.from(made.trust_bundle, "base64");
  const identity = {
    node_id: made.node_id,
    cluster_id: made.cluster_id,
    agent_url: made.agent_url,
    roles: made.roles,
    token_digest: Digest.parse(digestOf(Buffer.from(secret))),
    root: openBundle(firstBundle).content.root,
    ca: made.ca,
    private_key: key,
    certificate_chain: made.certificate_chain,
  };
  return { identity, firstBundle };
}
