/** A node with a good certificate and no agent: what it sends is the test's. */
import { createHttpClient } from "../../../src/host/bounded-http.ts";
import { sleep } from "../../../src/host/clock.ts";
import { enrollIdentity, enrollmentClient } from "../keys/enroll-simulated.ts";
import { NODE_TYPE } from "./agent-of-node.ts";
import type { Lab } from "./lab.ts";

const CONNECTIONS_MAX = 4;
const TIMEOUT_MS = 60_000;

export type RawNode = Awaited<ReturnType<typeof addRawNode>>;

export async function addRawNode(lab: Lab, name: string, profile: string) {
  const enrollment = await enrollmentClient(lab);
  const { identity } = await enrollIdentity(lab, enrollment, name, { profile, nodeType: NODE_TYPE });
  enrollment.close();
  const client = createHttpClient({
    origin: new URL(identity.agent_url).origin,
    tls: { ca: identity.ca, cert: identity.certificate_chain, key: identity.private_key },
    maxSockets: CONNECTIONS_MAX,
  });

  /** The status; a 429 is waited for and sent again, as an agent does. */
  async function post(path: string, body: Uint8Array): Promise<number> {
    for (;;) {
      const headers = { "content-type": "application/json" };
      const { status, headers: answered } = await client.request(path, {
        method: "POST",
        headers,
        bytes: body,
        timeoutMs: TIMEOUT_MS,
      });
      if (status !== 429) return status;
      await sleep(Number(answered["retry-after"]) * 1_000);
    }
  }

  return { name, nodeId: identity.node_id, post, close: () => client.close() };
}
