/** From names to rows, and who still refers to what. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { ModelKind, SpecOf } from "../../core/model/resources.ts";
import type { Transaction } from "../db/database.ts";

const invalid = (field: string, message: string): FairleadError =>
  new FairleadError("INVALID_INPUT", `body.${field}: ${message}`, { field: `body.${field}` });

export async function organizationIdOf(tx: Transaction, name: string | null): Promise<string | null> {
  if (name === null) return null;
  const [row] = await tx<{ id: string }[]>`select id from organizations where name = ${name}`;
  if (row === undefined) throw invalid("organization", `there is no organization ${name}`);
  return row.id;
}

export async function organizationIdsOf(tx: Transaction, names: readonly string[]): Promise<string[]> {
  const rows = await tx<{ id: string; name: string }[]>`
    select id, name from organizations where name = any(${names}::text[])`;
  const missing = names.find((name) => !rows.some((row) => row.name === name));
  if (missing !== undefined) throw invalid("organizations", `there is no organization ${missing}`);
  return rows.map(({ id }) => id);
}

/** A service runs on members of its organization only: elsewhere its snapshots would be refused. */
export async function nodeIdsOf(
  tx: Transaction,
  names: readonly string[],
  organization: string,
): Promise<NodeId[]> {
  const rows = await tx<{ id: NodeId; name: string; member: boolean }[]>`
    select n.id, n.name, exists (select 1 from memberships m join organizations o on o.id = m.organization_id
      where m.node_id = n.id and o.name = ${organization}) as member
    from nodes n where n.name = any(${names}::text[]) and n.revoked_at is null`;
  const missing = names.find((name) => !rows.some((row) => row.name === name));
  if (missing !== undefined) throw invalid("nodes", `there is no node ${missing}`);
  const outsider = rows.find(({ member }) => !member);
  if (outsider !== undefined) throw invalid("nodes", `node ${outsider.name} is no member of ${organization}`);
  return rows.map(({ id }) => id);
}

/** Refuses while something needs it; `next` is what a secret-ref is to become, null when it is to go. */
export async function checkUse(
  tx: Transaction,
  kind: ModelKind,
  name: string,
  next: SpecOf<"secret-ref"> | null,
): Promise<void> {
  const users =
    kind === "organization"
      ? await usersOfOrganization(tx, name)
      : kind === "secret-ref"
        ? await usersOfSecret(tx, name, next?.organization ?? null)
        : [];
  if (users.length > 0) throw inUse(`${kind} ${name}`, users);
}

export const inUse = (what: string, users: readonly string[]): FairleadError =>
  new FairleadError("MODEL_IN_USE", `${what} is used by ${users.join(", ")}`, { used_by: [...users] });

const SHOWN_MAX = 10;

async function usersOfOrganization(tx: Transaction, name: string): Promise<string[]> {
  const rows = await tx<{ user: string }[]>`
    with o as (select id from organizations where name = ${name})
    select 'policy ' || p.name as user from policies p join o on p.organization_id = o.id
    union all select 'secret-ref ' || s.name from secret_refs s join o on s.organization_id = o.id
    union all select 'service ' || s.name from services s join o on s.organization_id = o.id
    union all select 'storage-endpoint ' || e.name from storage_endpoints e join o on e.organization_id = o.id
    union all select 'node ' || n.name from memberships m join o on m.organization_id = o.id join nodes n on n.id = m.node_id
      and n.revoked_at is null
    order by 1 limit ${SHOWN_MAX}`;
  return rows.map((row) => row.user);
}

/** Services of another organization than the one it is to belong to: of all of them when it is to go. */
async function usersOfSecret(tx: Transaction, name: string, organization: string | null): Promise<string[]> {
  const rows = await tx<{ user: string }[]>`
    select 'service ' || s.name as user from services s join organizations o on o.id = s.organization_id
    where s.secrets @> array[${name}::text] and o.name is distinct from ${organization}
    order by 1 limit ${SHOWN_MAX}`;
  return rows.map((row) => row.user);
}
