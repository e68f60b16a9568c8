/**
 * Reports of agents become rows, then a nudge. A report delivered twice is stored once.
 * A report counts only for a command that was sent to the node that reports.
 */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type { ReportRequest } from "../../core/protocol/agent-api.ts";
import type { Database, Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import { appendEvents } from "../events/append.ts";
import type { Nudge } from "../drive/nudge.ts";
import { createBatcher } from "./batcher.ts";
import { upsertReported } from "./heartbeats.ts";

export interface NodeReports {
  readonly nodeId: NodeId;
  readonly request: ReportRequest;
}

export type StoreReports = (reports: NodeReports) => Promise<void>;

export function createReportStore(db: Database, nudge: Nudge): StoreReports {
  return createBatcher<NodeReports, void>(
    async (items) => {
      const rollouts = await db.begin((tx) => storeAll(tx, items));
      for (const id of rollouts) nudge(id);
      return items.map(() => undefined);
    },
    // A nudge gathers for as long again: waiting for company costs a rollout nothing, a transaction each costs it much.
    { itemsMax: 200, lingerMs: 25, concurrentMax: 2 },
  );
}

async function storeAll(tx: Transaction, items: readonly NodeReports[]): Promise<Set<RolloutId>> {
  const rows = items.flatMap(({ nodeId, request }) =>
    withoutOldNews(request.reports).map(({ report_id, command_id, body }) => ({
      report_id,
      command_id,
      node_id: nodeId,
      body,
    })),
  );
  const answered = rows.filter(({ body }) => body.kind !== "progress");
  const heartbeats = items.flatMap(({ nodeId, request: { heartbeat } }) =>
    heartbeat === null ? [] : [{ nodeId, heartbeat, digest: null }],
  );
  const newest = [...new Map(heartbeats.map((item) => [item.nodeId, item])).values()];
  const [stored] = await pipelined(
    () => insertReports(tx, rows),
    () => (answered.length > 0 ? markAnswered(tx, answered) : undefined),
    () => (newest.length > 0 ? upsertReported(tx, newest) : undefined),
  );
  const fresh = new Set(stored.map((row) => row.report_id));
  await appendEvents(tx, refusals(rows.filter((row) => fresh.has(row.report_id))));
  return new Set(stored.map((row) => row.rollout_id));
}

type Row = Pick<StoredReport, "report_id" | "command_id" | "node_id" | "body">;

const insertReports = async (tx: Transaction, rows: readonly Row[]) =>
  tx<{ report_id: string; rollout_id: RolloutId }[]>`
    insert into upgrade_reports (report_id, rollout_id, node_id, command_id, body, created_at)
    select r.report_id, c.rollout_id, r.node_id, r.command_id, r.body, clock_timestamp()
    from rows from (jsonb_to_recordset(${tx.json(rows)})
      as (report_id uuid, command_id uuid, node_id uuid, body jsonb)) with ordinality
      as r(report_id, command_id, node_id, body, place)
    join commands c on c.command_id = r.command_id and c.node_id = r.node_id
    order by place
    on conflict (report_id) do nothing returning report_id, rollout_id`;

const markAnswered = async (tx: Transaction, rows: readonly Row[]) =>
  tx`
    update commands c set answered_at = coalesce(c.answered_at, now())
    from unnest(${rows.map((row) => row.command_id)}::uuid[], ${rows.map((row) => row.node_id)}::uuid[])
      as a(command_id, node_id)
    where c.command_id = a.command_id and c.node_id = a.node_id`;

/**
 * How far a command had come is no news beside a later word of how far it has, nor where it is done or was refused. Beside
 * any other verdict it tells at which action it ended.
 */
function withoutOldNews(reports: ReportRequest["reports"]): ReportRequest["reports"] {
  const smooth = new Set(reports.filter(endsAtNoAction).map((report) => report.command_id));
  const progress = reports.filter(({ body }) => body.kind === "progress");
  const furthest = new Map(progress.map((report) => [report.command_id, report]));
  return reports.filter(
    (report) =>
      report.body.kind !== "progress" ||
      (furthest.get(report.command_id) === report && !smooth.has(report.command_id)),
  );
}

const endsAtNoAction = ({ body }: ReportRequest["reports"][number]): boolean =>
  body.kind === "refused" || (body.kind === "verdict" && body.verdict === "COMPLETED");

type StoredReport = ReportRequest["reports"][number] & { readonly node_id: NodeId };

const refusals = (rows: readonly Pick<StoredReport, "node_id" | "command_id" | "body">[]) =>
  rows.flatMap(({ node_id, command_id, body }) =>
    body.kind === "refused"
      ? [{ kind: "node.rejection", node_id, data: { command_id, ...body.rejection } }]
      : [],
  );
