/** Resources of the model as rows give them: one query for all kinds, told apart by the table of tables. */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { RESOURCES, type ModelKind } from "../../core/model/resources.ts";
import type { ResourceView } from "../../core/protocol/model-api.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Queryable } from "../db/database.ts";
import { TABLES, type ResourceTable } from "./tables.ts";

const After = z.strictObject({ name: z.string().max(100) });

export async function listResources(
  db: Queryable,
  kind: ModelKind,
  { limit, cursor }: Page,
): Promise<{ items: ResourceView[]; next_cursor: string | null }> {
  const after = cursor === undefined ? "" : decodeCursor(cursor, After).name;
  const rows = await db<
    Row[]
  >`${select(db, kind)} where r.name > ${after} order by r.name limit ${limit + 1}`;
  const items = rows.slice(0, limit).map((row) => viewOf(kind, row));
  const last = rows.length > limit ? items.at(-1) : undefined;
  return { items, next_cursor: last === undefined ? null : encodeCursor({ name: last.name }) };
}

export async function getResource(db: Queryable, kind: ModelKind, name: string): Promise<ResourceView> {
  const found = await findResource(db, kind, name);
  if (found === undefined) throw new FairleadError("NOT_FOUND", `there is no ${kind} ${name}`);
  return found;
}

export async function findResource(
  db: Queryable,
  kind: ModelKind,
  name: string,
): Promise<ResourceView | undefined> {
  const [row] = await db<Row[]>`${select(db, kind)} where r.name = ${name}`;
  return row === undefined ? undefined : viewOf(kind, row);
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly changed_at: Date;
  readonly organization: string | null;
  readonly nodes: string[];
  readonly columns: Readonly<Record<string, unknown>>;
}

function select(db: Queryable, kind: ModelKind) {
  const { table, changedAt, owner }: ResourceTable = TABLES[kind];
  const owned = owner !== "none";
  return db`
    select r.id, r.name, r.${db(changedAt)} as changed_at, to_jsonb(r) as columns,
      ${owned ? db`o.name` : db`null`} as organization,
      ${kind === "service" ? nodesOf(db) : db`'{}'::text[]`} as nodes
    from ${db(table)} r ${owned ? db`left join organizations o on o.id = r.organization_id` : db``}`;
}

const nodesOf = (db: Queryable) => db`
  array(select n.name from service_nodes l join nodes n on n.id = l.node_id where l.service_id = r.id
    and n.revoked_at is null order by n.name)`;

function viewOf(kind: ModelKind, row: Row): ResourceView {
  const { columns, owner }: ResourceTable = TABLES[kind];
  const spec = {
    ...Object.fromEntries(Object.entries(columns).map(([field, column]) => [field, row.columns[column]])),
    ...(owner === "none" ? {} : { organization: row.organization }),
    ...(kind === "service" ? { nodes: row.nodes } : {}),
  };
  return {
    id: row.id,
    name: row.name,
    changed_at: row.changed_at.toISOString(),
    spec: RESOURCES[kind].spec.parse(spec),
  };
}
