/** The fleet's authority, node by node: pages of nodes by name, each judged as on its own page. */
import { z } from "zod";
import type { NodeAuthority } from "../../core/protocol/snapshot-api.ts";
import type { Database } from "../db/database.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { Page } from "./ports.ts";
import { readScopeRows } from "./snapshot-rows.ts";
import { authorityOf, selectStanding, type NodeStanding } from "./snapshot-views.ts";

const After = z.strictObject({ name: z.string().max(253) });

export interface AuthorityFilter extends Page {
  readonly attention: boolean;
}

export async function listAuthority(
  db: Database,
  { attention, limit, cursor }: AuthorityFilter,
  now: number,
): Promise<{ nodes: NodeAuthority[]; next_cursor: string | null }> {
  const after = cursor === undefined ? "" : decodeCursor(cursor, After).name;
  const rows = await db<NodeStanding[]>`
    ${selectStanding(db)} where n.name > ${after} and n.revoked_at is null and n.enrolled_at is not null
    order by n.name limit ${limit + 1}`;
  const page = rows.slice(0, limit);
  const nodes = await judge(db, page, now);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    nodes: attention ? nodes.filter((node) => node.attention.length > 0) : nodes,
    next_cursor: last === undefined ? null : encodeCursor({ name: last.name }),
  };
}

/** What a node held before is read only for nodes that lag behind: in a calm fleet that is nobody. */
async function judge(db: Database, page: readonly NodeStanding[], now: number): Promise<NodeAuthority[]> {
  const ids = page.map(({ id }) => id);
  const newest = await readScopeRows(db, ids, { history: false });
  const first = page.map((node) => authorityOf(node, newest.get(node.id)!, now));
  const lagging = first.filter(({ counts }) => counts.behind > 0).map((node) => node.node_id);
  if (lagging.length === 0) return first;
  const whole = await readScopeRows(db, lagging, { history: true });
  return page.map((node, at) =>
    whole.has(node.id) ? authorityOf(node, whole.get(node.id)!, now) : first[at]!,
  );
}
