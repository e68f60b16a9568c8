/**
 * Changes of the model (SNAP-3). Rows are all that changes here: triggers note what has to be compiled again.
 *
 * 1. One writer at a time: what a change refers to cannot go away beside it.
 * 2. A change that changes nothing writes nothing, so asking twice is asking once.
 * 3. Every change leaves an event with who made it, in the same transaction.
 * 4. Nothing that something else refers to is deleted.
 */
import type { ModelKind, SpecOf } from "../../core/model/resources.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ResourceView } from "../../core/protocol/model-api.ts";
import { canonicalJson } from "../../trust/canonical-json.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { appendEvents } from "../events/append.ts";
import { findResource, getResource } from "./read.ts";
import { checkUse, nodeIdsOf, organizationIdOf } from "./references.ts";
import { TABLES, type ResourceTable } from "./tables.ts";

export const lockModel = (tx: Transaction) => tx`select pg_advisory_xact_lock(${LOCKS.model})`;

export async function putResource<K extends ModelKind>(
  db: Database,
  kind: K,
  name: string,
  wanted: SpecOf<K>,
  actor: string,
): Promise<{ readonly resource: ResourceView; readonly created: boolean }> {
  const spec = ordered(wanted);
  return db.begin(async (tx) => {
    await lockModel(tx); // (1)
    const before = await findResource(tx, kind, name);
    if (before !== undefined && canonicalJson(before.spec) === canonicalJson(spec))
      return { resource: before, created: false }; // (2)
    const id = await store(tx, kind, name, spec, before?.id);
    if (kind === "service") await linkNodes(tx, id, spec as SpecOf<"service">);
    if (kind === "secret-ref" && before !== undefined)
      await checkUse(tx, kind, name, spec as SpecOf<"secret-ref">);
    const data = { resource: kind, name, change: before === undefined ? "created" : "changed" };
    await appendEvents(tx, [{ kind: "model.changed", actor, data }]); // (3)
    return { resource: await getResource(tx, kind, name), created: before === undefined };
  });
}

export async function deleteResource(
  db: Database,
  kind: ModelKind,
  name: string,
  actor: string,
): Promise<void> {
  await db.begin(async (tx) => {
    await lockModel(tx); // (1)
    const { id } = await getResource(tx, kind, name);
    await checkUse(tx, kind, name, null); // (4)
    await tx`delete from ${tx(TABLES[kind].table)} where id = ${id}`;
    await appendEvents(tx, [
      { kind: "model.changed", actor, data: { resource: kind, name, change: "deleted" } },
    ]); // (3)
  });
}

async function store(
  tx: Transaction,
  kind: ModelKind,
  name: string,
  spec: SpecOf<ModelKind>,
  id: string | undefined,
): Promise<string> {
  const { table, columns, owner, changedAt }: ResourceTable = TABLES[kind];
  const fields = spec as Readonly<Record<string, unknown>>;
  const row: Record<string, unknown> = { name };
  for (const [field, column] of Object.entries(columns))
    row[column] = field === "body" ? tx.json(fields[field] as never) : fields[field];
  if (owner !== "none")
    row["organization_id"] = await organizationIdOf(tx, fields["organization"] as string | null);
  if (id === undefined) {
    const [made] = await tx<{ id: string }[]>`insert into ${tx(table)} ${tx(row)} returning id`;
    return made!.id;
  }
  if (changedAt === "updated_at") row["updated_at"] = tx`now()`;
  await tx`update ${tx(table)} set ${tx(row)} where id = ${id}`;
  return id;
}

async function linkNodes(tx: Transaction, serviceId: string, spec: SpecOf<"service">): Promise<void> {
  await checkSecrets(tx, spec);
  const ids = await nodeIdsOf(tx, spec.nodes, spec.organization);
  await tx`delete from service_nodes where service_id = ${serviceId} and node_id <> all(${ids}::uuid[])`;
  await tx`
    insert into service_nodes (service_id, node_id) select ${serviceId}, id from unnest(${ids}::uuid[]) as t(id)
    on conflict do nothing`;
}

async function checkSecrets(
  tx: Transaction,
  { secret_refs, organization }: SpecOf<"service">,
): Promise<void> {
  const [foreign] = await tx<{ name: string }[]>`
    select s.name from unnest(${secret_refs}::text[]) as s(name)
    where not exists (select 1 from secret_refs r join organizations o on o.id = r.organization_id
      where r.name = s.name and o.name = ${organization})`;
  if (foreign === undefined) return;
  const message = `body.secret_refs: ${organization} has no secret-ref ${foreign.name}`;
  throw new FairleadError("INVALID_INPUT", message, { field: "body.secret_refs" });
}

/** Names stand in one order, so that the same wish is the same bytes. */
function ordered<K extends ModelKind>(spec: SpecOf<K>): SpecOf<K> {
  const nodes = (spec as { readonly nodes?: readonly string[] }).nodes;
  return nodes === undefined ? spec : { ...spec, nodes: nodes.toSorted() };
}
