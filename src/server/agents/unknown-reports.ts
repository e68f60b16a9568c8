/**
 * Reports about commands that this database does not know: it was restored from an older backup, or the node lies.
 *
 * 1. How such a command ended is noted once, as an event, and for so many commands of a node at most.
 * 2. A verdict means that the node changed what it runs, or tried to. Its own measurement beside the verdict is recorded,
 *    as an operator's `node adopt` does: the next upgrade begins from there. A node that lies about it harms itself.
 */
import type { ErrorCode } from "../../core/error-codes.ts";
import { FairleadError } from "../../core/errors.ts";
import type { CommandId, Digest, NodeId, ProfileId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { Heartbeat, ProgramReport, UpgradeReport } from "../../core/protocol/agent-api.ts";
import { DRIVE_ACTOR } from "../../core/rollout/silence.ts";
import type { Logger } from "../../host/log.ts";
import type { Database, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { adoptNode } from "../rollout/adopt.ts";

export interface UnknownReport {
  readonly node_id: NodeId;
  readonly command_id: CommandId;
  readonly body: UpgradeReport["body"];
}

export const UNKNOWN_COMMAND =
  "this control plane has no such command for the node: its database may have been restored from an older backup";

/** (1) */
export async function noteUnknown(tx: Transaction, reports: readonly UnknownReport[]): Promise<void> {
  const ends = reports.filter(({ body }) => body.kind === "verdict" || body.kind === "refused");
  if (ends.length === 0) return;
  const nodes = [...new Set(ends.map(({ node_id }) => node_id))];
  await tx`
    delete from unknown_reports
    where node_id = any(${nodes}) and noted_at < clock_timestamp() - make_interval(secs => ${LIMITS.unknownReportKeptMs / 1000})`;
  const rows = ends.map(({ node_id, command_id }) => ({ node_id, command_id }));
  const noted = await tx<{ node_id: NodeId; command_id: CommandId }[]>`
    insert into unknown_reports (node_id, command_id)
    select node_id, command_id from (
      select node_id, command_id, row_number() over (partition by node_id)
        + (select count(*) from unknown_reports u where u.node_id = r.node_id) as place
      from (select distinct * from jsonb_to_recordset(${tx.json(rows)}) as r(node_id uuid, command_id uuid)) r
      where not exists (
        select 1 from unknown_reports u where u.node_id = r.node_id and u.command_id = r.command_id)
    ) r where place <= ${LIMITS.unknownReportsMax}
    on conflict do nothing returning node_id, command_id`;
  const isNew = new Set(noted.map(({ node_id, command_id }) => `${node_id} ${command_id}`));
  const told = new Map(ends.map((end) => [`${end.node_id} ${end.command_id}`, end]));
  await appendEvents(
    tx,
    [...told.entries()]
      .filter(([key]) => isNew.has(key))
      .map(([, { node_id, command_id, body }]) => ({
        kind: "node.report_unknown",
        node_id,
        data: { command_id, ...endOf(body), reason: UNKNOWN_COMMAND },
      })),
  );
}

const endOf = (body: UpgradeReport["body"]) =>
  body.kind === "verdict"
    ? { ended: body.verdict, error_code: body.error_code }
    : { ended: "refused", error_code: body.kind === "refused" ? body.rejection.code : null };

/** Programs that run the very bytes that lie installed, where something else is recorded of them. */
async function strayed(
  db: Database,
  nodeId: NodeId,
  programs: readonly ProgramReport[],
): Promise<ProgramReport[]> {
  const rows = await db<{ chain_profile_id: ProfileId; fingerprint: Digest | null }[]>`
    select np.chain_profile_id, s.fingerprint from node_profiles np
    left join node_config_state s on s.node_id = np.node_id and s.chain_profile_id = np.chain_profile_id
    where np.node_id = ${nodeId}`;
  const recorded = new Map(rows.map((row) => [row.chain_profile_id, row.fingerprint]));
  return programs.filter(
    ({ chain_profile_id, running_fingerprint: running, installed_fingerprint: installed }) =>
      running !== null &&
      running === installed &&
      recorded.has(chain_profile_id) &&
      recorded.get(chain_profile_id) !== running,
  );
}

const REFUSALS: readonly ErrorCode[] = ["ADOPT_REFUSED", "INVALID_INPUT", "NOT_FOUND"];

/** (2) After the heartbeat is stored. A refused adoption changes nothing, and a person can ask for it later. */
export async function adoptReported(
  db: Database,
  log: Logger,
  nodeId: NodeId,
  { programs }: Heartbeat,
): Promise<void> {
  for (const { chain_profile_id, version } of await strayed(db, nodeId, programs)) {
    const reason = "the node reported the verdict of a command that is not known here";
    try {
      await adoptNode(db, nodeId, { chain_profile_id, reason }, DRIVE_ACTOR, version);
    } catch (error) {
      if (!(error instanceof FairleadError) || !REFUSALS.includes(error.code)) throw error;
      log.warn("reported version not recorded", { node_id: nodeId, chain_profile_id, reason: error.message });
    }
  }
}
