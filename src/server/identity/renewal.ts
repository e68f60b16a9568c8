/** A node's next certificate, asked for over a connection that its present one opened. */
import type { FastifyInstance } from "fastify";
import type * as https from "node:https";
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import { RenewRequest, RenewResponse } from "../../core/protocol/agent-api.ts";
import { parseBody } from "../api/parse-body.ts";
import type { Transaction } from "../db/database.ts";
import { storeCertificates, type EnrollmentDeps } from "./enrollment.ts";
import { issueNodeCertificate } from "./node-certificate.ts";
import { readSigningRequest, type RequestedKey } from "./signing-request.ts";

/** Far above one in twenty days: a node that asks more often is broken, and must not fill the table. */
const renewalsPerHourMax = 20;

export type RenewalDeps = Pick<EnrollmentDeps, "db" | "clock" | "ca" | "clusterId">;

export function registerRenewRoute(app: FastifyInstance<https.Server>, deps: RenewalDeps): void {
  app.post("/agent/v1/renew", async (request) => {
    const { csr } = parseBody(RenewRequest, request.body);
    const key = await readSigningRequest(csr);
    const chain = await deps.db.begin((tx) => renewLocked(deps, tx, request.nodeId, key));
    return RenewResponse.parse({ certificate_chain: chain });
  });
}

/** Locks the node's row: a revocation comes before it or after it. */
export async function renewLocked(
  deps: RenewalDeps,
  tx: Transaction,
  nodeId: NodeId,
  key: RequestedKey,
): Promise<string> {
  const [node] = await tx<{ revoked: boolean }[]>`
    select revoked_at is not null as revoked from nodes where id = ${nodeId} for update`;
  if (node === undefined || node.revoked) throw new FairleadError("NODE_REVOKED", "this node was revoked");
  await refuseFlood(tx, nodeId);
  const certificate = issueNodeCertificate(deps.ca, deps.clusterId, nodeId, key, deps.clock.now());
  await storeCertificates(tx, [{ nodeId, key, certificate }]);
  return certificate.chainPem;
}

async function refuseFlood(tx: Transaction, nodeId: NodeId): Promise<void> {
  const [row] = await tx<{ recent: number }[]>`
    select count(*) as recent from node_certificates
    where node_id = ${nodeId} and created_at > now() - interval '1 hour'`;
  if (row!.recent <= renewalsPerHourMax) return;
  throw new FairleadError(
    "TOO_MANY_REQUESTS",
    "this node has renewed its certificate too often within the hour",
  );
}
