/** A model of many nodes as rows: organizations, policies, services with secrets, a mesh that they begin with. */
import type { NodeId } from "../../src/core/ids.ts";
import type { CompiledScope } from "../../src/core/snapshot/roles.ts";
import type { Database } from "../../src/server/db/database.ts";

/** The four that every node of the model holds. */
export const SCOPES: readonly CompiledScope[] = [
  "node_bootstrap",
  "node_runtime",
  "service_assignment",
  "degraded_mode_policy",
];
const ORGANIZATIONS = 50;
const CORE_PEERS = 50;
const SERVICES_PER_ORGANIZATION = 20;

/** Seven of ten nodes run two services each; the rest are entries and thin nodes. */
export async function fillModel(db: Database, nodes: number): Promise<NodeId[]> {
  await db`insert into organizations (name) select 'org-' || n from generate_series(1, ${ORGANIZATIONS}::int) n`;
  await db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'core-' || n, 'core', '{core_mesh}', now() from generate_series(1, ${CORE_PEERS}::int) n`;
  await db`insert into peer_addresses (node_id, address) select id, name || '.example:7000' from nodes`;
  await db`
    insert into nodes (id, name, node_type, roles, enrolled_at)
    select gen_random_uuid(), 'node-' || n, 'edge',
      case when n % 10 < 7 then '{egress_service}'::text[] when n % 10 < 8 then '{ingress}' else '{thin}' end, now()
    from generate_series(1, ${nodes}::int) n`;
  await db`
    insert into memberships (node_id, organization_id)
    select n.id, o.id from (select id, row_number() over (order by id) as place from nodes where name like 'node-%') n
    join (select id, row_number() over (order by id) as place from organizations) o on o.place = 1 + n.place % ${ORGANIZATIONS}`;
  await db`
    insert into policies (kind, name, organization_id, body)
    select 'degraded_mode', 'degraded-' || o.name, o.id, ${db.json({
      allowed: ["continue_services", "preserve_routes", "report_status"],
      offline_max_ms: 86_400_000,
      route_ttl_ms: 3_600_000,
      session_ttl_ms: 3_600_000,
      when_partitioned: "hold",
    })} from organizations o`;
  await db`
    insert into secret_refs (name, organization_id, ref)
    select 'key-' || o.name, o.id, 'secret://vault/' || o.name || '/key' from organizations o`;
  await db`
    insert into services (name, organization_id, resources, secrets, address)
    select 'service-' || n || '-' || o.name, o.id, '{resource:db,resource:cache}', array['key-' || o.name], 'svc-' || n || '.example:443'
    from organizations o cross join generate_series(1, ${SERVICES_PER_ORGANIZATION}::int) n`;
  await db`
    insert into service_nodes (service_id, node_id)
    select s.id, n.id from (select n.id, m.organization_id, row_number() over (partition by m.organization_id order by n.id) as place
      from nodes n join memberships m on m.node_id = n.id where 'egress_service' = any(n.roles)) n
    join (select id, organization_id, row_number() over (partition by organization_id order by id) as place from services) s
      on s.organization_id = n.organization_id and s.place in (1 + n.place % 20, 1 + (n.place + 7) % 20)`;
  await db`insert into node_profiles (node_id, chain_profile_id) select id, 'bench' from nodes`;
  await db`truncate snapshot_dirty`;
  await db`analyze`;
  const rows = await db<{ id: NodeId }[]>`select id from nodes where name like 'node-%' order by id`;
  return rows.map((row) => row.id);
}
