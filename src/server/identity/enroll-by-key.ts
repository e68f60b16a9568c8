/**
 * Enrollment with keys that many machines share (ADR 32).
 *
 * 1. A machine's own key counts once: asked again after a lost answer, it is the same node.
 * 2. A machine chooses its name within the template, and never takes the name of a live node.
 * 3. The enrollment key's row is locked while its uses are counted: it is never used more often than it allows. New names
 *    are inserted in one order, so that replicas that enroll at once do not deadlock.
 */
import { randomUUID } from "node:crypto";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import { nameFrom } from "../../core/model/node-name.ts";
import type { EnrollmentKeyId } from "../../core/protocol/enrollment-key-api.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { refused, type Applicant, type Decision } from "./applicant.ts";

interface KeyRow {
  readonly id: EnrollmentKeyId;
  readonly secret_hash: string;
  readonly name: string;
  readonly name_template: string;
  readonly node_type: string;
  readonly chain_profile_ids: ProfileId[];
  readonly roles: NodeRole[];
  readonly labels: Record<string, string>;
  readonly uses_max: number;
  readonly uses: number;
  readonly needs_approval: boolean;
  readonly expires_at: Date;
  readonly expired: boolean;
  readonly revoked: boolean;
}

interface UseRow {
  readonly enrollment_key_id: EnrollmentKeyId;
  readonly key_hash: string;
  readonly node_id: NodeId;
  readonly name: string;
  readonly roles: NodeRole[];
  readonly approved: boolean;
  readonly enrolled: boolean;
  readonly revoked: boolean;
}

interface Newcomer {
  readonly applicant: Applicant;
  readonly by: KeyRow;
  readonly nodeId: NodeId;
  readonly name: string;
}

/** Of applicants whose secret is an enrollment key's; the others are left out. */
export async function enrollByKey(
  tx: Transaction,
  applicants: readonly Applicant[],
): Promise<Map<Applicant, Decision>> {
  const keys = await lockKeys(tx, applicants);
  const decisions = new Map<Applicant, Decision>();
  if (keys.size === 0) return decisions;
  const uses = await usesOf(tx, keys, applicants);
  const left = new Map([...keys.values()].map(({ id, uses_max, uses: used }) => [id, uses_max - used]));
  const newcomers: Newcomer[] = [];
  for (const applicant of applicants) {
    const by = keys.get(applicant.secretHash);
    if (by === undefined) continue;
    const use = uses.get(useKey(by.id, applicant.key.keyHash));
    if (use !== undefined) {
      decisions.set(applicant, decisionFor(use)); // (1)
      continue;
    }
    const ended = endOf(by, left.get(by.id)!);
    const name = nameFrom(by.name_template, applicant.machine);
    if (ended !== null || name === null) {
      decisions.set(applicant, refused(ended ?? noName(by, applicant)));
      continue;
    }
    left.set(by.id, left.get(by.id)! - 1);
    newcomers.push({ applicant, by, nodeId: randomUUID() as NodeId, name });
  }
  for (const [applicant, decision] of await admit(tx, newcomers)) decisions.set(applicant, decision);
  return decisions;
}

const useKey = (id: EnrollmentKeyId, keyHash: string): string => `${id} ${keyHash}`;

async function lockKeys(tx: Transaction, applicants: readonly Applicant[]): Promise<Map<string, KeyRow>> {
  const rows = await tx<KeyRow[]>`
    select id, secret_hash, name, name_template, node_type, chain_profile_ids, roles, labels, uses_max, uses,
      needs_approval, expires_at, expires_at <= now() as expired, revoked_at is not null as revoked
    from enrollment_keys where secret_hash = any(${applicants.map(({ secretHash }) => secretHash)})
    order by id for update`; // (3)
  return new Map(rows.map((row) => [row.secret_hash, row]));
}

async function usesOf(
  tx: Transaction,
  keys: ReadonlyMap<string, KeyRow>,
  applicants: readonly Applicant[],
): Promise<Map<string, UseRow>> {
  const rows = await tx<UseRow[]>`
    select u.enrollment_key_id, u.key_hash, u.node_id, n.name, n.roles, u.approved_at is not null as approved,
      n.enrolled_at is not null as enrolled, n.revoked_at is not null as revoked
    from enrollment_key_uses u join nodes n on n.id = u.node_id
    where u.enrollment_key_id = any(${[...keys.values()].map(({ id }) => id)})
      and u.key_hash = any(${applicants.map(({ key }) => key.keyHash)})
    order by u.node_id for update of n`;
  return new Map(rows.map((row) => [useKey(row.enrollment_key_id, row.key_hash), row]));
}

function decisionFor({ node_id: nodeId, name, roles, approved, enrolled, revoked }: UseRow): Decision {
  if (revoked) return refused(`node ${name} was revoked`);
  if (!approved) return { kind: "pending", nodeId, name };
  return { kind: enrolled ? "again" : "enrolled", nodeId, roles };
}

/** Why no machine can enroll with the key any more; null while one can. */
function endOf(by: KeyRow, left: number): string | null {
  if (by.revoked) return `enrollment key ${by.name} was revoked`;
  if (by.expired) return `enrollment key ${by.name} expired at ${by.expires_at.toISOString()}`;
  return left > 0 ? null : `enrollment key ${by.name} was used ${by.uses_max} times and allows no more`;
}

function noName({ name_template }: KeyRow, { machine }: Applicant): string {
  const without = machine.machineId === null ? " without a machine id" : "";
  return `the template ${name_template} makes no name of host name ${JSON.stringify(machine.hostname)}${without}`;
}

/** Writes the nodes; one whose name is taken is refused and counts no use. */
async function admit(tx: Transaction, newcomers: readonly Newcomer[]): Promise<[Applicant, Decision][]> {
  if (newcomers.length === 0) return [];
  const inOrder = newcomers.toSorted((a, b) => (a.name < b.name ? -1 : 1)); // (3)
  const rows = inOrder.map(({ nodeId, name, by, applicant }) => ({
    id: nodeId,
    name,
    node_type: by.node_type,
    roles: by.roles,
    labels: by.labels,
    profiles: by.chain_profile_ids,
    enrollment_key_id: by.id,
    key_hash: applicant.key.keyHash,
    host: applicant.machine.hostname,
    address: applicant.address,
    approved: !by.needs_approval,
  }));
  const inserted = await tx<{ id: NodeId }[]>`
    insert into nodes (id, name, node_type, roles, labels, replaces)
    select r.id, r.name, r.node_type, array(select jsonb_array_elements_text(r.roles)), r.labels,
      (select o.id from nodes o where o.name = r.name and o.revoked_at is not null
        and not exists (select 1 from nodes s where s.replaces = o.id))
    from jsonb_to_recordset(${tx.json(rows)}) as r(id uuid, name text, node_type text, roles jsonb, labels jsonb)
    order by r.name
    on conflict (name) where revoked_at is null do nothing
    returning id`; // (2)
  const admitted = new Set(inserted.map(({ id }) => id));
  const taken = rows.filter(({ id }) => admitted.has(id));
  await tx`
    insert into node_profiles (node_id, chain_profile_id)
    select r.id, profile from jsonb_to_recordset(${tx.json(taken)}) as r(id uuid, profiles jsonb),
      jsonb_array_elements_text(r.profiles) as profile`;
  await tx`
    insert into enrollment_key_uses (enrollment_key_id, key_hash, node_id, host, address, approved_at)
    select r.enrollment_key_id, r.key_hash, r.id, r.host, r.address, case when r.approved then now() end
    from jsonb_to_recordset(${tx.json(taken)})
      as r(id uuid, enrollment_key_id uuid, key_hash text, host text, address text, approved boolean)`;
  await tx`
    update enrollment_keys k set uses = k.uses + c.count
    from (
      select r.enrollment_key_id as id, count(*)::int as count
      from jsonb_to_recordset(${tx.json(taken)}) as r(enrollment_key_id uuid) group by 1
    ) c where k.id = c.id`;
  const waiting = inOrder.filter(({ nodeId, by }) => admitted.has(nodeId) && by.needs_approval);
  await appendEvents(
    tx,
    waiting.map(({ nodeId, name, by, applicant }) => ({
      kind: "node.pending",
      node_id: nodeId,
      data: { name, enrollment_key: by.name, key_id: applicant.key.keyHash, address: applicant.address },
    })),
  );
  return inOrder.map((newcomer) => [newcomer.applicant, decisionOn(newcomer, admitted)]);
}

function decisionOn({ nodeId, name, by }: Newcomer, admitted: ReadonlySet<NodeId>): Decision {
  if (!admitted.has(nodeId))
    return refused(
      `there is a node ${name} already: revoke it, rename the machine, or use a key with {machine} in its template`,
    );
  return by.needs_approval
    ? { kind: "pending", nodeId, name }
    : { kind: "enrolled", nodeId, roles: by.roles };
}
