/**
 * A new node gets its certificate, by a token of its own or by an enrollment key.
 *
 * 1. Machines that ask at once share one transaction: its commit and the lock on events cost the same for one as for many.
 * 2. The same key with the same secret is one applicant, also when it asks twice at once.
 * 3. Every refusal of a secret that nobody gave out says the same: guessing tells nothing about which secrets exist.
 */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, NodeId } from "../../core/ids.ts";
import type { EnrollPending, EnrollRequest, EnrollResponse } from "../../core/protocol/agent-api.ts";
import type { Clock } from "../../host/clock.ts";
import { createBatcher } from "../agents/batcher.ts";
import { hashSecret } from "../auth/secrets.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { refusedAlike, type Applicant, type Decision } from "./applicant.ts";
import { enrollByKey } from "./enroll-by-key.ts";
import { enrollByToken } from "./enroll-by-token.ts";
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

export type Enroll = (request: EnrollRequest, address: string) => Promise<EnrollResponse | EnrollPending>;

const BATCH = { itemsMax: 64, lingerMs: 5, concurrentMax: 1 } as const;

type Outcome =
  | {
      readonly kind: "certificate";
      readonly nodeId: NodeId;
      readonly roles: readonly string[];
      readonly chain: string;
    }
  | Extract<Decision, { kind: "pending" | "refused" }>;

export function createEnrollment(deps: EnrollmentDeps): Enroll {
  const decide = createBatcher((applicants: readonly Applicant[]) => enrollTogether(deps, applicants), BATCH); // (1)

  return async ({ secret, csr, name, machine_id }, address) => {
    const trustBundle = await newestBundle(deps.db);
    const key = await readSigningRequest(csr);
    const machine = { hostname: name, machineId: machine_id ?? null };
    const outcome = await decide({ secretHash: hashSecret(secret), key, machine, address });
    if (outcome.kind === "refused") throw outcome.error;
    if (outcome.kind === "pending") return { pending: { node_id: outcome.nodeId, name: outcome.name } };
    return {
      node_id: outcome.nodeId,
      cluster_id: deps.clusterId,
      certificate_chain: outcome.chain,
      ca: deps.ca.rootPem,
      agent_url: deps.agentUrl(),
      roles: [...outcome.roles] as EnrollResponse["roles"],
      trust_bundle: trustBundle,
    };
  };
}

async function newestBundle(db: Database): Promise<string> {
  const [row] = await db<{ frame: Buffer }[]>`
    select frame from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_READY", "the cluster has no trust bundle yet");
  return row.frame.toString("base64");
}

async function enrollTogether(deps: EnrollmentDeps, asking: readonly Applicant[]): Promise<Outcome[]> {
  const once = new Map(asking.map((applicant) => [nameOf(applicant), applicant])); // (2)
  const outcomes = await deps.db.begin(async (tx) => {
    const applicants = [...once.values()];
    const byToken = await enrollByToken(tx, applicants);
    const byKey = await enrollByKey(
      tx,
      applicants.filter((applicant) => !byToken.has(applicant)),
    );
    const decisions = applicants.map((applicant): [Applicant, Decision] => [
      applicant,
      byToken.get(applicant) ?? byKey.get(applicant) ?? refusedAlike(), // (3)
    ]);
    return new Map(await settle(deps, tx, decisions));
  });
  return asking.map((applicant) => outcomes.get(nameOf(applicant))!);
}

const nameOf = ({ secretHash, key }: Applicant): string => `${secretHash} ${key.keyHash}`;

async function settle(
  deps: EnrollmentDeps,
  tx: Transaction,
  decisions: readonly (readonly [Applicant, Decision])[],
): Promise<[string, Outcome][]> {
  const issued = decisions.flatMap(([{ key }, decision]) =>
    decision.kind === "enrolled" ? [issue(deps, key, decision)] : [],
  );
  await storeEnrolled(tx, issued);
  const chains = new Map([
    ...issued.map(({ nodeId, certificate }) => [nodeId, certificate.chainPem] as const),
    ...(await earlierChains(tx, decisions)),
  ]);
  return decisions.map(([applicant, decision]) => [nameOf(applicant), outcomeOf(decision, chains)]);
}

function outcomeOf(decision: Decision, chains: ReadonlyMap<NodeId, string>): Outcome {
  if (decision.kind === "pending" || decision.kind === "refused") return decision;
  const chain = chains.get(decision.nodeId);
  if (chain === undefined) return outcomeOf(refusedAlike(), chains);
  return { kind: "certificate", nodeId: decision.nodeId, roles: decision.roles, chain };
}

interface Issued {
  readonly nodeId: NodeId;
  readonly key: RequestedKey;
  readonly certificate: NodeCertificate;
}

function issue(
  { ca, clusterId, clock }: EnrollmentDeps,
  key: RequestedKey,
  { nodeId }: { readonly nodeId: NodeId },
): Issued {
  return { nodeId, key, certificate: issueNodeCertificate(ca, clusterId, nodeId, key, clock.now()) };
}

async function storeEnrolled(tx: Transaction, issued: readonly Issued[]): Promise<void> {
  if (issued.length === 0) return;
  await tx`update nodes set enrolled_at = now() where id = any(${issued.map(({ nodeId }) => nodeId)})`;
  await storeCertificates(tx, issued);
  await appendEvents(
    tx,
    issued.map(({ nodeId, certificate: { serial } }) => ({
      kind: "node.enrolled",
      node_id: nodeId,
      data: { serial },
    })),
  );
}

/** Certificates that were issued to the same key before and are still valid. */
async function earlierChains(
  tx: Transaction,
  decisions: readonly (readonly [Applicant, Decision])[],
): Promise<[NodeId, string][]> {
  const again = decisions.flatMap(([{ key }, decision]) =>
    decision.kind === "again" ? [{ node_id: decision.nodeId, key_hash: key.keyHash }] : [],
  );
  if (again.length === 0) return [];
  const rows = await tx<{ node_id: NodeId; chain_pem: string }[]>`
    select distinct on (c.node_id) c.node_id, c.chain_pem
    from jsonb_to_recordset(${tx.json(again)}) as a(node_id uuid, key_hash text)
    join node_certificates c on c.node_id = a.node_id and c.key_hash = a.key_hash
    where c.revoked_at is null and c.not_after > now()
    order by c.node_id, c.created_at desc`;
  return rows.map(({ node_id, chain_pem }) => [node_id, chain_pem]);
}

export async function storeCertificates(tx: Transaction, issued: readonly Issued[]): Promise<void> {
  const rows = issued.map(({ nodeId, key, certificate }) => ({
    serial: certificate.serial,
    node_id: nodeId,
    key_hash: key.keyHash,
    chain_pem: certificate.chainPem,
    not_after: certificate.notAfter.toISOString(),
  }));
  await tx`
    insert into node_certificates (serial, node_id, key_hash, chain_pem, not_after)
    select serial, node_id, key_hash, chain_pem, not_after from jsonb_to_recordset(${tx.json(rows)})
      as r(serial text, node_id uuid, key_hash text, chain_pem text, not_after timestamptz)`;
}
