/**
 * A new node gets its certificate.
 *
 * 1. A token works once: the first key that uses it owns it. The same key may ask again after a lost answer and
 *    gets the same certificate; any other key is refused.
 * 2. Every refusal says the same: whoever guesses learns nothing about which tokens exist.
 * 3. Row locks are taken on node, then token, as a revocation and a new token take them: none of them comes in between,
 *    and none of them deadlocks with another.
 */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import type { EnrollRequest, EnrollResponse } from "../../core/protocol/agent-api.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { Clock } from "../../host/clock.ts";
import { hashSecret } from "../auth/secrets.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { issueNodeCertificate, type NodeCertificate } from "./node-certificate.ts";
import { readSigningRequest, type RequestedKey } from "./signing-request.ts";
import type { SiteCa } from "./site-ca.ts";

export interface EnrollmentDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ca: SiteCa;
  readonly clusterId: ClusterId;
  /** Known once the agents' listener listens. */
  readonly agentUrl: () => string;
}

export async function enroll(deps: EnrollmentDeps, request: EnrollRequest): Promise<EnrollResponse> {
  const trustBundle = await newestBundle(deps.db);
  const key = await readSigningRequest(request.csr);
  const { nodeId, roles, chain } = await deps.db.begin((tx) => useToken(deps, tx, request.secret, key));
  return {
    node_id: nodeId,
    cluster_id: deps.clusterId,
    certificate_chain: chain,
    ca: deps.ca.rootPem,
    agent_url: deps.agentUrl(),
    roles,
    trust_bundle: trustBundle,
  };
}

async function newestBundle(db: Database): Promise<string> {
  const [row] = await db<{ frame: Buffer }[]>`
    select frame from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_READY", "the cluster has no trust bundle yet");
  return row.frame.toString("base64");
}

interface Enrolled {
  readonly nodeId: NodeId;
  readonly roles: NodeRole[];
  readonly chain: string;
}

interface TokenRow {
  readonly node_id: NodeId;
  readonly used_by_key: string | null;
  readonly expired: boolean;
}

async function useToken(
  deps: EnrollmentDeps,
  tx: Transaction,
  secret: string,
  key: RequestedKey,
): Promise<Enrolled> {
  const secretHash = hashSecret(secret);
  const node = await lockNodeOf(tx, secretHash); // (3)
  const [token] = await tx<TokenRow[]>`
    select node_id, used_by_key, expires_at <= now() as expired
    from enrollment_tokens where secret_hash = ${secretHash} for update`; // (3)
  if (token === undefined || node === undefined) throw refused();
  const answer = { nodeId: token.node_id, roles: node.roles };
  if (token.used_by_key !== null) return { ...answer, chain: await sameChain(tx, token, key) };
  if (token.expired) throw refused();

  const certificate = await issueNodeCertificate(
    deps.ca,
    deps.clusterId,
    token.node_id,
    key,
    deps.clock.now(),
  );
  await tx`update enrollment_tokens set used_by_key = ${key.keyHash} where secret_hash = ${secretHash}`;
  await tx`update nodes set enrolled_at = now() where id = ${token.node_id}`;
  await storeCertificate(tx, token.node_id, key, certificate);
  await appendEvents(tx, [
    { kind: "node.enrolled", node_id: token.node_id, data: { serial: certificate.serial } },
  ]);
  return { ...answer, chain: certificate.chainPem };
}

/** The index compares hashes: its timing tells about a hash that the caller cannot choose. */
async function lockNodeOf(tx: Transaction, secretHash: string): Promise<{ roles: NodeRole[] } | undefined> {
  const [node] = await tx<{ roles: NodeRole[] }[]>`
    select n.roles from enrollment_tokens t join nodes n on n.id = t.node_id
    where t.secret_hash = ${secretHash} and n.revoked_at is null for update of n`;
  return node;
}

async function sameChain(tx: Transaction, token: TokenRow, key: RequestedKey): Promise<string> {
  if (token.used_by_key !== key.keyHash) throw refused(); // (1)
  const [row] = await tx<{ chain_pem: string }[]>`
    select chain_pem from node_certificates
    where node_id = ${token.node_id} and key_hash = ${key.keyHash} and revoked_at is null and not_after > now()
    order by created_at desc limit 1`;
  if (row === undefined) throw refused();
  return row.chain_pem;
}

export async function storeCertificate(
  tx: Transaction,
  nodeId: NodeId,
  key: RequestedKey,
  certificate: NodeCertificate,
): Promise<void> {
  await tx`
    insert into node_certificates (serial, node_id, key_hash, chain_pem, not_after)
    values (${certificate.serial}, ${nodeId}, ${key.keyHash}, ${certificate.chainPem}, ${certificate.notAfter})`;
}

const refused = (): FairleadError =>
  new FairleadError("ENROLLMENT_REFUSED", "the enrollment token is unknown, expired or used"); // (2)
