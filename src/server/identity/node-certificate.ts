/** A node's certificate: its name is a URI that says cluster, kind and id, and the server alone writes it. */
import { NodeId, type ClusterId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { BACKDATE_MS, newSerial } from "./certificates.ts";
import { nodeCertificateDer } from "./node-certificate-der.ts";
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

export function issueNodeCertificate(
  ca: SiteCa,
  cluster: ClusterId,
  node: NodeId,
  key: RequestedKey,
  now: number,
): NodeCertificate {
  const serial = newSerial();
  const notAfter = wholeSeconds(now + LIMITS.nodeCertificateLifetimeMs);
  const leaf = nodeCertificateDer(ca.agent.leaf, {
    serial,
    commonName: node,
    uri: nodeUri(cluster, node),
    spki: key.spki,
    notBefore: wholeSeconds(now - BACKDATE_MS),
    notAfter,
  });
  return { serial, chainPem: `${pemOf(leaf)}\n${ca.agent.certificatePem}\n`, notAfter };
}

/** A certificate's times have no fractions. */
const wholeSeconds = (ms: number): Date => new Date(Math.floor(ms / 1000) * 1000);

const pemOf = (bytes: Buffer): string =>
  `-----BEGIN CERTIFICATE-----\n${bytes.toString("base64").replaceAll(/(.{64})(?!$)/g, "$1\n")}\n-----END CERTIFICATE-----`;
