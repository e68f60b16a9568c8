/**
 * The next certificate of a node whose present one is out of its time: the fleet was switched off for longer than a
 * certificate lives, or the clock that dated it was ahead. TLS refuses such a certificate, so its key signs the request.
 *
 * 1. The certificate is this site's, its row is good, and it ended less than `LIMITS.nodeCertificateGraceMs` ago. One that
 *    is in its time renews over its own connection.
 * 2. The proof is over the new request: one that was overheard certifies no other key.
 * 3. Revocation is asked as at every renewal, under the node's row lock.
 * 4. A certificate whose successor was used proves nothing: its key may lie in an old copy of the disk. A successor that
 *    was never used does not count, since the answer that carried it may have been lost.
 */
import { verify, X509Certificate } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { RENEWAL_PROOF_DOMAIN, type RenewByProofRequest } from "../../core/protocol/agent-api.ts";
import type { Transaction } from "../db/database.ts";
import { nodeOfSubject } from "./node-certificate.ts";
import { renewLocked, type RenewalDeps } from "./renewal.ts";
import { readSigningRequest } from "./signing-request.ts";
import type { SiteCa } from "./site-ca.ts";

export async function renewByProof(deps: RenewalDeps, request: RenewByProofRequest): Promise<string> {
  const certificate = readCertificate(request.certificate);
  const nodeId = nodeOf(certificate, deps.ca, deps.clusterId);
  refuseByDate(certificate, deps.clock.now());
  const signed = Buffer.from(`${RENEWAL_PROOF_DOMAIN}${request.csr}`);
  if (!verify("sha256", signed, certificate.publicKey, Buffer.from(request.proof, "base64")))
    throw refused("the proof is not by its key"); // (2)
  const key = await readSigningRequest(request.csr);
  return deps.db.begin(async (tx) => {
    await refuseUnlessRegistered(tx, certificate, nodeId);
    return renewLocked(deps, tx, nodeId, key); // (3)
  });
}

function refuseByDate({ validFromDate, validToDate }: X509Certificate, now: number): void {
  const [from, to] = [validFromDate.getTime(), validToDate.getTime()];
  if (now - to > LIMITS.nodeCertificateGraceMs) throw refused("it ended too long ago: enroll the node again");
  if (from <= now && now < to)
    throw refused("it is still in its time: renew over a connection that it opens"); // (1)
}

function readCertificate(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw refused("it cannot be read");
  }
}

function nodeOf(certificate: X509Certificate, ca: SiteCa, clusterId: ClusterId): NodeId {
  const issuer = new X509Certificate(ca.agent.certificatePem);
  const isOurs = certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  const nodeId = isOurs ? nodeOfSubject(certificate.subjectAltName, clusterId) : null;
  if (nodeId === null) throw refused("it was not issued for a node of this cluster");
  return nodeId;
}

async function refuseUnlessRegistered(
  tx: Transaction,
  { serialNumber }: X509Certificate,
  nodeId: NodeId,
): Promise<void> {
  const [row] = await tx<{ revoked: boolean; replaced: boolean }[]>`
    select c.revoked_at is not null as revoked, exists (select 1 from node_certificates later
      where later.node_id = c.node_id and later.first_use > coalesce(c.first_use, 0)) as replaced
    from node_certificates c
    where c.serial = ${serialNumber.toLowerCase()} and c.node_id = ${nodeId}`;
  if (row === undefined) throw refused("it is not in this cluster's registry"); // (1)
  if (row.revoked) throw new FairleadError("NODE_REVOKED", `node ${nodeId} was revoked`);
  if (row.replaced) throw refused("a later one of this node was used: enroll the node again"); // (4)
}

const refused = (why: string): FairleadError =>
  new FairleadError("CERTIFICATE_REFUSED", `the certificate is refused: ${why}`);
