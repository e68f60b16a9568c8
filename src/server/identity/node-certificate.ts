/** A node's certificate: its name is a URI that says cluster, kind and id, and the server alone writes it. */
import { NodeId, type ClusterId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { issueLeaf } from "./certificates.ts";
import type { RequestedKey } from "./signing-request.ts";
import type { SiteCa } from "./site-ca.ts";

export interface NodeCertificate {
  readonly serial: string;
  readonly chainPem: string;
  readonly notAfter: Date;
}

export const nodeUri = (cluster: ClusterId, node: NodeId): string => `fairlead://${cluster}/node/${node}`;

/** The node that a subject alternative name stands for; null for any other form, a second name included. */
export function nodeOfSubject(subjectAltName: string | undefined, cluster: ClusterId): NodeId | null {
  const prefix = `URI:fairlead://${cluster}/node/`;
  if (subjectAltName === undefined || !subjectAltName.startsWith(prefix)) return null;
  const parsed = NodeId.safeParse(subjectAltName.slice(prefix.length));
  return parsed.success ? parsed.data : null;
}

export async function issueNodeCertificate(
  ca: SiteCa,
  cluster: ClusterId,
  node: NodeId,
  key: RequestedKey,
  now: number,
): Promise<NodeCertificate> {
  const leaf = await issueLeaf(ca.agent, {
    commonName: node,
    names: [{ type: "url", value: nodeUri(cluster, node) }],
    usage: "client",
    spki: key.spki,
    now,
    lifetimeMs: LIMITS.nodeCertificateLifetimeMs,
  });
  return {
    serial: leaf.serialNumber,
    chainPem: `${leaf.toString("pem")}\n${ca.agent.certificatePem}\n`,
    notAfter: leaf.notAfter,
  };
}
