/**
 * Reports of agents become rows, then a nudge.
 *
 * 1. A report counts only for a command that was sent to the node that reports.
 * 2. It counts only when it goes further than every report about its command before it: action by action, then one
 *    verdict or refusal. A report delivered twice is stored once, and a node cannot make more rows of a command than
 *    the command has actions, however often it reports.
 * 3. Each report is answered: stored, or why not. An agent keeps what was not answered.
 */
import type { NodeId, RolloutId } from "../../core/ids.ts";
import type {
  ReportAnswers,
  ReportOutcome,
  ReportRequest,
  UpgradeReport,
} from "../../core/protocol/agent-api.ts";
import { silentLogger, type Logger } from "../../host/log.ts";
import type { Database, Transaction } from "../db/database.ts";
import { pipelined } from "../db/pipelined.ts";
import { appendEvents } from "../events/append.ts";
import type { Nudge } from "../drive/nudge.ts";
import { createBatcher } from "./batcher.ts";
import { upsertReported } from "./heartbeats.ts";
import { adoptReported, noteUnknown, UNKNOWN_COMMAND } from "./unknown-reports.ts";

export interface NodeReports {
  readonly nodeId: NodeId;
  readonly request: ReportRequest;
}

export type StoreReports = (reports: NodeReports) => Promise<ReportAnswers>;

export function createReportStore(db: Database, nudge: Nudge, log: Logger = silentLogger): StoreReports {
  return createBatcher<NodeReports, ReportAnswers>(
    async (items) => {
      const { rollouts, outcomes } = await db.begin((tx) => storeAll(tx, items));
      for (const id of rollouts) nudge(id);
      for (const { nodeId, request } of items)
        if (request.heartbeat !== null && request.reports.some((report) => isStrayVerdict(report, outcomes)))
          await adoptReported(db, log, nodeId, request.heartbeat);
      return items.map(({ request }) => answersTo(request, outcomes)); // (3)
    },
    // A nudge gathers for as long again: waiting for company costs a rollout nothing, a transaction each costs it much.
    { itemsMax: 200, lingerMs: 25, concurrentMax: 2 },
  );
}

/** By the id of the report; one that is not listed was no news beside another of its command. */
type Outcomes = ReadonlyMap<string, ReportOutcome>;

const isStrayVerdict = ({ report_id, body }: UpgradeReport, outcomes: Outcomes): boolean =>
  body.kind === "verdict" && outcomes.get(report_id) === "unknown_command";

const REASONS: Readonly<Record<ReportOutcome, string | null>> = {
  stored: null,
  repeated: "an earlier report of the command says as much, or more",
  unknown_command: UNKNOWN_COMMAND,
};

const answersTo = ({ reports }: ReportRequest, outcomes: Outcomes): ReportAnswers => ({
  answers: reports.map(({ report_id }) => {
    const outcome = outcomes.get(report_id) ?? "repeated";
    return { report_id, outcome, reason: REASONS[outcome] };
  }),
});

async function storeAll(
  tx: Transaction,
  items: readonly NodeReports[],
): Promise<{ readonly rollouts: ReadonlySet<RolloutId>; readonly outcomes: Outcomes }> {
  const rows = items.flatMap(({ nodeId, request }) =>
    withoutOldNews(request.reports).map(({ report_id, command_id, body }) => ({
      report_id,
      command_id,
      node_id: nodeId,
      rank: rankOf(body),
      body,
    })),
  );
  const heartbeats = items.flatMap(({ nodeId, request: { heartbeat } }) =>
    heartbeat === null ? [] : [{ nodeId, heartbeat, digest: null }],
  );
  const newest = [...new Map(heartbeats.map((item) => [item.nodeId, item])).values()];
  const [stored] = await pipelined(
    () => insertReports(tx, rows),
    () => (newest.length > 0 ? upsertReported(tx, newest) : undefined),
  );
  const fresh = new Set(stored.map((row) => row.report_id));
  const unknown = await findUnknown(
    tx,
    rows.filter((row) => !fresh.has(row.report_id)),
  );
  await noteUnknown(tx, unknown);
  await appendEvents(tx, refusals(rows.filter((row) => fresh.has(row.report_id))));
  return {
    rollouts: new Set(stored.map((row) => row.rollout_id)),
    outcomes: new Map([
      ...stored.map(({ report_id }) => [report_id, "stored"] as const),
      ...unknown.map(({ report_id }) => [report_id, "unknown_command"] as const),
    ]),
  };
}

/** Another node's command is as unknown as one that never was. */
async function findUnknown(tx: Transaction, rows: readonly Row[]): Promise<Row[]> {
  if (rows.length === 0) return [];
  const known = await tx<{ key: string }[]>`
    select command_id || ' ' || node_id as key from commands
    where command_id = any(${rows.map(({ command_id }) => command_id)})`;
  const keys = new Set(known.map(({ key }) => key));
  return rows.filter(({ command_id, node_id }) => !keys.has(`${command_id} ${node_id}`));
}

type Row = Pick<StoredReport, "report_id" | "command_id" | "node_id" | "body"> & { readonly rank: number };

/** Above every action: what ends a command comes last. */
const ENDED_RANK = 100;

/** Below every action, a wait with fewer jobs ahead ranks higher. */
function rankOf(body: UpgradeReport["body"]): number {
  if (body.kind === "waiting") return -body.jobs_ahead;
  return body.kind === "progress" ? body.progress.action_index : ENDED_RANK;
}

/** Locks commands in id order, like every batch of reports, to avoid deadlocks. */
const insertReports = async (tx: Transaction, rows: readonly Row[]) =>
  tx<{ report_id: string; rollout_id: RolloutId }[]>`
    with held as materialized (
      select r.*, c.rollout_id
      from rows from (jsonb_to_recordset(${tx.json(withTops(rows))})
        as (report_id uuid, command_id uuid, node_id uuid, rank int, body jsonb, is_top boolean)) with ordinality
        as r(report_id, command_id, node_id, rank, body, is_top, place)
      join commands c on c.command_id = r.command_id and c.node_id = r.node_id and c.reported_rank < r.rank -- (1) (2)
      order by r.command_id for no key update of c
    ), raised as (
      update commands c set reported_rank = held.rank,
        answered_at = case when held.rank = ${ENDED_RANK} then coalesce(c.answered_at, now()) else c.answered_at end
      from held where held.is_top and c.command_id = held.command_id
    )
    insert into upgrade_reports (report_id, rollout_id, node_id, command_id, body, created_at)
    select report_id, rollout_id, node_id, command_id, body, clock_timestamp() from held order by place
    on conflict (report_id) do nothing returning report_id, rollout_id`;

/** Of several reports of one rank the first; the highest of each command is marked. */
function withTops(rows: readonly Row[]): (Row & { readonly is_top: boolean })[] {
  const keyOf = ({ node_id, command_id }: Row) => `${node_id} ${command_id}`;
  const firsts = new Map<string, Row>();
  const tops = new Map<string, number>();
  for (const row of rows) {
    const key = keyOf(row);
    const place = `${key} ${row.rank}`;
    if (!firsts.has(place)) firsts.set(place, row);
    tops.set(key, Math.max(tops.get(key) ?? row.rank, row.rank));
  }
  return [...firsts.values()].map((row) => ({ ...row, is_top: tops.get(keyOf(row)) === row.rank }));
}

/**
 * How far a command had come is no news beside a later word of how far it has, nor where it is done or was refused. Beside
 * any other verdict it tells at which action it ended.
 */
function withoutOldNews(reports: ReportRequest["reports"]): ReportRequest["reports"] {
  const smooth = new Set(reports.filter(endsAtNoAction).map((report) => report.command_id));
  const news = reports.filter(({ body }) => isNews(body));
  const furthest = new Map(news.map((report) => [report.command_id, report]));
  return reports.filter(
    (report) =>
      !isNews(report.body) || (furthest.get(report.command_id) === report && !smooth.has(report.command_id)),
  );
}

/** How far a command has come; its answer is still to come. */
const isNews = ({ kind }: ReportRequest["reports"][number]["body"]): boolean =>
  kind === "progress" || kind === "waiting";

const endsAtNoAction = ({ body }: ReportRequest["reports"][number]): boolean =>
  body.kind === "refused" || (body.kind === "verdict" && body.verdict === "COMPLETED");

type StoredReport = ReportRequest["reports"][number] & { readonly node_id: NodeId };

const refusals = (rows: readonly Pick<StoredReport, "node_id" | "command_id" | "body">[]) =>
  rows.flatMap(({ node_id, command_id, body }) =>
    body.kind === "refused"
      ? [{ kind: "node.rejection", node_id, data: { command_id, ...body.rejection } }]
      : [],
  );
