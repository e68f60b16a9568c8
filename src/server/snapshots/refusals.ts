/** What the compiler would not sign, per node and scope, until it would. An event says it once, not at every attempt. */
import type { NodeId } from "../../core/ids.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import type { Refusal } from "./compile-batch.ts";
import type { NodeScope } from "./stored.ts";

/** `tried`: everything that was compiled; what is not refused in it is no longer. */
export async function recordRefusals(
  tx: Transaction,
  tried: readonly NodeScope[],
  refused: readonly Refusal[],
  now: number,
): Promise<void> {
  const news = refused.length === 0 ? [] : await storeRefusals(tx, refused, now);
  await tx`
    delete from snapshot_refusals r
    using unnest(${tried.map((item) => item.nodeId)}::uuid[], ${tried.map((item) => item.scope)}::text[]) as t(node_id, scope)
    where r.node_id = t.node_id and r.scope_type = t.scope and r.at < ${new Date(now)}`;
  await appendEvents(
    tx,
    news.map(({ node_id, ...data }) => ({ kind: "snapshot.refused", node_id, data })),
  );
}

interface RefusalRow {
  readonly node_id: NodeId;
  readonly scope: string;
  readonly code: string;
  readonly path: string;
}

/** Answers with those that were not known yet. */
async function storeRefusals(
  tx: Transaction,
  refused: readonly Refusal[],
  now: number,
): Promise<RefusalRow[]> {
  const rows = refused.map(({ nodeId, scope, code, path, message }) => ({
    node_id: nodeId,
    scope,
    code,
    path: path.slice(0, 300),
    message: message.slice(0, 500),
  }));
  const known = await tx<RefusalRow[]>`
    select r.node_id, r.scope_type as scope, r.code, r.path from snapshot_refusals r
    where r.node_id = any(${rows.map((row) => row.node_id)})`;
  const keys = new Set(known.map((row) => [row.node_id, row.scope, row.code, row.path].join(" ")));
  await tx`
    insert into snapshot_refusals (node_id, scope_type, code, path, message, at)
    select r.node_id, r.scope, r.code, r.path, r.message, ${new Date(now)}
    from jsonb_to_recordset(${tx.json(rows)}) as r(node_id uuid, scope text, code text, path text, message text)
    on conflict (node_id, scope_type) do update set code = excluded.code, path = excluded.path,
      message = excluded.message, at = excluded.at`;
  return rows
    .filter((row) => !keys.has([row.node_id, row.scope, row.code, row.path].join(" ")))
    .map(({ node_id, scope, code, path }) => ({ node_id, scope, code, path }));
}
