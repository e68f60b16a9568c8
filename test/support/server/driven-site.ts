// A site whose rollouts are driven step by step by the test: real rows, real decisions, agents that only report.

import { randomUUID } from "node:crypto";
import type { ClusterId, CommandId, Digest, NodeId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import type { Heartbeat, UpgradeReport } from "../../../src/core/protocol/agent-api.ts";
import type { GroupId } from "../../../src/core/protocol/group-api.ts";
import type { AgentVerdict } from "../../../src/core/upgrade/phases.ts";
import { upsertHeartbeats } from "../../../src/server/agents/heartbeats.ts";
import { createReportStore } from "../../../src/server/agents/reports.ts";
import { advanceGroup } from "../../../src/server/group/advance.ts";
import { advanceRollout } from "../../../src/server/rollout/advance.ts";
import type { HandOver } from "../../../src/server/rollout/parcel.ts";
import { generateSigner } from "../../../src/trust/keys.ts";
import { startCreationSite } from "./creation-site.ts";

export type DrivenSite = Awaited<ReturnType<typeof startDrivenSite>>;

const ROUNDS_MAX = 50;

interface AtWork {
  readonly node_id: NodeId;
  readonly command_id: CommandId;
  readonly profile: ProfileId;
  readonly fingerprint: Digest;
}

export async function startDrivenSite() {
  const site = await startCreationSite();
  const { db } = site;
  const [cluster] = await db<{ id: ClusterId }[]>`select id from clusters`;
  const { signer } = generateSigner();
  const authority = { clusterId: cluster!.id, signers: () => [signer] as const };
  const store = createReportStore(db, () => undefined);
  const ignored = () => undefined;
  // This control plane was there all along, until a test says otherwise.
  await db`
    insert into health_watch (last_look_at, hearing_since) values (now(), '2020-01-01')`;
  const keepWatch = () =>
    db`update health_watch set last_look_at = clock_timestamp() where hearing_since = '2020-01-01'`;

  /** Every rollout and group has a turn until all of them are at rest. */
  async function settle(): Promise<void> {
    for (let round = 0; round < ROUNDS_MAX; round++) {
      const [before] = await db<{ id: number }[]>`select coalesce(max(id), 0) as id from events`;
      const groups = await db<{ id: GroupId }[]>`
        select id from rollout_groups g where status in ('pending', 'running', 'paused', 'rolling_back')
          or exists (select 1 from group_signals s where s.group_id = g.id and s.consumed_at is null)`;
      const rollouts = await db<{ id: RolloutId }[]>`
        select id from rollouts r where status in ('pending', 'running', 'paused', 'rolling_back')
          or exists (select 1 from rollout_signals s where s.rollout_id = r.id and s.consumed_at is null)`;
      await keepWatch();
      for (const { id } of groups) await advanceGroup({ db, nudge: ignored }, id);
      for (const { id } of rollouts)
        await advanceRollout({ db, authority, onCommitted: ignored, nudgeGroup: ignored }, id);
      const [after] = await db<{ id: number }[]>`select coalesce(max(id), 0) as id from events`;
      if (after!.id === before!.id) return;
    }
    throw new Error("rollouts and groups never come to rest");
  }

  const atWorkIn = (rolloutId: string, status = "in_progress"): Promise<AtWork[]> => db<AtWork[]>`
    select rn.node_id, rn.command_id, r.chain_profile_id as profile,
      case when rn.direction = 'forward' then r.target_binary_checksum else rn.previous_checksum end as fingerprint
    from rollout_nodes rn join rollouts r on r.id = rn.rollout_id
    where rn.rollout_id = ${rolloutId} and rn.status = ${status}`;

  /** What is at work, or in that status, says that it is well, or otherwise, measured at that time; nobody has a turn. */
  async function beat(rolloutId: string, at: number, facts: object = {}, status?: string): Promise<void> {
    const nodes = await atWorkIn(rolloutId, status);
    const measured = { at: new Date(at).toISOString() };
    await upsertHeartbeats(
      db,
      nodes.map((node) => ({
        nodeId: node.node_id,
        heartbeat: { ...heartbeatOf(node, facts), ...measured },
        digest: null,
      })),
    );
  }

  /** What is at work reports so, well or not; then everybody has a turn. */
  async function report(
    rolloutId: string,
    verdict: AgentVerdict = "COMPLETED",
    facts: object = {},
  ): Promise<void> {
    const atWork = await atWorkIn(rolloutId);
    await Promise.all(
      atWork.map(async (node) =>
        store({
          nodeId: node.node_id,
          request: { reports: [verdictOf(node, verdict)], heartbeat: heartbeatOf(node, facts) },
        }),
      ),
    );
    await settle();
  }

  const statusesOf = async (rolloutId: string): Promise<string[]> => {
    const rows = await db<{ status: string }[]>`
      select rn.status from rollout_nodes rn join nodes n on n.id = rn.node_id
      where rn.rollout_id = ${rolloutId} order by n.name`;
    return rows.map(({ status }) => status);
  };

  /** One step of one rollout, of which nobody is told. */
  const step = async (id: RolloutId, handOver?: HandOver) => {
    await keepWatch();
    return advanceRollout(
      { db, authority, onCommitted: ignored, nudgeGroup: ignored, ...(handOver && { handOver }) },
      id,
    );
  };

  return { ...site, authority, settle, step, beat, report, statusesOf };
}

function verdictOf({ command_id }: AtWork, verdict: AgentVerdict): UpgradeReport {
  const at = new Date().toISOString();
  const error = verdict === "COMPLETED" ? null : "COMPENSATION_FAILED";
  const body = {
    kind: "verdict",
    verdict,
    error_code: error,
    error_message: error,
    started_at: at,
    ended_at: at,
  };
  return { report_id: randomUUID(), command_id, body } as UpgradeReport;
}

const heartbeatOf = ({ profile, fingerprint }: AtWork, facts: object): Heartbeat => ({
  at: new Date().toISOString(),
  agent_version: "0.1.0",
  applied: {},
  programs: [
    {
      chain_profile_id: profile,
      application_health: "ok",
      sync_status: "synced",
      running_fingerprint: fingerprint,
      installed_fingerprint: fingerprint,
      version: "1.0.0",
      instance_id: "some.forward.1.1",
      started_at: new Date().toISOString(),
      restarts: 0,
      ...facts,
    },
  ],
  last_rejection: null,
});
