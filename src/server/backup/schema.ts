/** The tables as the database itself knows them: a migration that adds one adds it to backups as well. */
import { FairleadError } from "../../core/errors.ts";
import type { Queryable } from "../db/database.ts";

export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
}

/**
 * What belongs to a run of a server and not to the site: which migrations this database has (the target has its own),
 * and who holds a lease now.
 */
const LEFT_OUT = ["migrations", "replicas"];

/** In an order in which no row comes before one that it refers to. */
export async function tablesOf(db: Queryable): Promise<TableShape[]> {
  const tables = await db<{ name: string; columns: string[] }[]>`
    select c.relname as name, array_agg(a.attname::text order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    where n.nspname = current_schema() and c.relkind = 'r' and c.relname <> all(${LEFT_OUT})
    group by c.relname order by c.relname`;
  const references = await db<{ child: string; parent: string }[]>`
    select distinct child.relname as child, parent.relname as parent
    from pg_constraint k join pg_class child on child.oid = k.conrelid join pg_class parent on parent.oid = k.confrelid
    join pg_namespace n on n.oid = child.relnamespace
    where k.contype = 'f' and n.nspname = current_schema() and child.oid <> parent.oid`;
  return parentsFirst(tables, references);
}

export async function sequencesOf(db: Queryable): Promise<string[]> {
  const rows = await db<{ name: string }[]>`
    select sequencename as name from pg_sequences where schemaname = current_schema() order by sequencename`;
  return rows.map(({ name }) => name);
}

function parentsFirst(
  tables: readonly TableShape[],
  references: readonly { readonly child: string; readonly parent: string }[],
): TableShape[] {
  const ordered: TableShape[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ name }) => name));
    const isFree = ({ name }: TableShape): boolean =>
      !references.some(({ child, parent }) => child === name && waiting.has(parent));
    const free = left.filter(isFree);
    if (free.length === 0)
      throw new FairleadError(
        "INTERNAL",
        `tables refer to each other in a circle: ${[...waiting].join(", ")}`,
      );
    ordered.push(...free);
    left = left.filter((table) => !free.includes(table));
  }
  return ordered;
}
