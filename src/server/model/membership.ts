/** A node's roles, organizations and peer address: whole, by an operator, with an event that says who (SNAP-4). */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { Membership } from "../../core/model/resources.ts";
import { MembershipView } from "../../core/protocol/model-api.ts";
import { NODE_ROLES } from "../../core/snapshot/scopes.ts";
import { canonicalJson } from "../../trust/canonical-json.ts";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { inUse, organizationIdsOf } from "./references.ts";
import { lockModel } from "./write.ts";

export async function getMembership(db: Queryable, id: NodeId): Promise<MembershipView> {
  const [row] = await db`
    select n.id as node_id, n.name as node_name, n.roles, a.address as peer_address,
      array(select o.name from memberships m join organizations o on o.id = m.organization_id
        where m.node_id = n.id order by o.name) as organizations
    from nodes n left join peer_addresses a on a.node_id = n.id where n.id = ${id}`;
  if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  return MembershipView.parse({ ...row });
}

export async function putMembership(
  db: Database,
  id: NodeId,
  wanted: Membership,
  actor: string,
): Promise<MembershipView> {
  const next: Membership = {
    roles: NODE_ROLES.filter((role) => wanted.roles.includes(role)),
    organizations: wanted.organizations.toSorted(),
    peer_address: wanted.peer_address,
  };
  return db.begin(async (tx) => {
    await lockModel(tx);
    const [node] = await tx<{ revoked: boolean }[]>`
      select revoked_at is not null as revoked from nodes where id = ${id} for update`;
    if (node?.revoked === true) throw new FairleadError("NODE_REVOKED", `node ${id} was revoked`);
    const { node_id, node_name, ...before } = await getMembership(tx, id);
    if (same(before, next)) return { node_id, node_name, ...before };
    if (canonicalJson(before.roles) !== canonicalJson(next.roles))
      await tx`update nodes set roles = ${next.roles} where id = ${id}`;
    await setOrganizations(tx, id, node_name, next.organizations);
    await setPeerAddress(tx, id, next.peer_address);
    await appendEvents(tx, [{ kind: "node.membership", node_id: id, actor, data: next }]);
    return getMembership(tx, id);
  });
}

/** The order of enrollment's roles is no difference. */
const same = (before: Membership, next: Membership): boolean =>
  canonicalJson({ ...before, roles: before.roles.toSorted() }) ===
  canonicalJson({ ...next, roles: next.roles.toSorted() });

async function setOrganizations(
  tx: Transaction,
  id: NodeId,
  nodeName: string,
  names: readonly string[],
): Promise<void> {
  const ids = await organizationIdsOf(tx, names);
  const left = await tx<{ name: string }[]>`
    select 'service ' || s.name as name from service_nodes l join services s on s.id = l.service_id
    where l.node_id = ${id} and s.organization_id <> all(${ids}::uuid[]) order by 1 limit 10`;
  if (left.length > 0)
    throw inUse(
      `the membership of ${nodeName}`,
      left.map(({ name }) => name),
    );
  await tx`delete from memberships where node_id = ${id} and organization_id <> all(${ids}::uuid[])`;
  await tx`
    insert into memberships (node_id, organization_id) select ${id}, o from unnest(${ids}::uuid[]) as t(o)
    on conflict do nothing`;
}

async function setPeerAddress(tx: Transaction, id: NodeId, address: string | null): Promise<void> {
  if (address === null) {
    await tx`delete from peer_addresses where node_id = ${id}`;
    return;
  }
  await tx`
    insert into peer_addresses (node_id, address) values (${id}, ${address})
    on conflict (node_id) do update set address = excluded.address where peer_addresses.address <> excluded.address`;
}
