/** Who is at the other end of an agent's connection, read from its certificate once per connection. */
import { X509Certificate } from "node:crypto";
import type { TLSSocket } from "node:tls";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import { nodeOfSubject } from "../identity/node-certificate.ts";
import type { SiteCa } from "../identity/site-ca.ts";

export interface AgentPeer {
  readonly nodeId: NodeId;
  readonly serial: string;
  readonly notAfterMs: number;
}

/** TLS has checked the chain already; the issuer is checked again here, so that one wrong option is not enough. */
export function createPeerReader(ca: SiteCa, clusterId: ClusterId): (socket: TLSSocket) => AgentPeer {
  const issuer = new X509Certificate(ca.agent.certificatePem);
  return (socket) => {
    const certificate = socket.authorized ? socket.getPeerX509Certificate() : undefined;
    if (certificate === undefined) throw refused("none was shown");
    if (!certificate.checkIssued(issuer) || !certificate.verify(issuer.publicKey)) {
      throw refused("it was not issued for an agent");
    }
    const nodeId = nodeOfSubject(certificate.subjectAltName, clusterId);
    if (nodeId === null) throw refused("it names no node of this cluster");
    return {
      nodeId,
      serial: certificate.serialNumber.toLowerCase(),
      notAfterMs: Date.parse(certificate.validTo),
    };
  };
}

const refused = (why: string): FairleadError =>
  new FairleadError("CERTIFICATE_REFUSED", `the certificate is refused: ${why}`);
