// The nodes that a step asks the database for are those that `isLookedAt` names, and the rest is counted as there.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { countQuiet, isLookedAt, type Look } from "../../../src/core/rollout/quiet.ts";
import type { BatchNode, ReportRow } from "../../../src/core/rollout/rows.ts";
import { loadBatch } from "../../../src/server/rollout/load-nodes.ts";
import type { RolloutRecord } from "../../../src/server/rollout/rollout-record.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const PROFILE = "quiet-rows";
const OLD = Date.UTC(2026, 0, 1);

/** One node in each state that a batch may have. */
const STATES = [
  { status: "pending", upgrade_phase: null, direction: "forward", launched_at: null },
  { status: "in_progress", upgrade_phase: "PREPARING", direction: "forward", launched_at: new Date(OLD) },
  { status: "in_progress", upgrade_phase: "PREPARING", direction: "forward", launched_at: new Date(OLD + 1) },
  { status: "in_progress", upgrade_phase: "APPLYING", direction: "forward", launched_at: new Date(OLD + 2) },
  { status: "in_progress", upgrade_phase: "VERIFYING", direction: "forward", launched_at: new Date(OLD) },
  { status: "in_progress", upgrade_phase: "VERIFYING", direction: "reverse", launched_at: new Date(OLD + 1) },
  { status: "in_progress", upgrade_phase: "APPLYING", direction: "reverse", launched_at: new Date(OLD + 1) },
  { status: "succeeded", upgrade_phase: null, direction: "forward", launched_at: new Date(OLD) },
  { status: "failed", upgrade_phase: null, direction: "forward", launched_at: new Date(OLD) },
] as const;

const LOOKS: readonly Look[] = [false, true].flatMap((installed) =>
  [OLD - 1, OLD, OLD + 1, OLD + 2].map((launchedUntil) => ({ whole: false, installed, launchedUntil })),
);
const EVERYONE: Look = { whole: true, installed: true, launchedUntil: 0 };

let here: DrivenSite;
let id: RolloutId;

beforeAll(async () => {
  here = await startDrivenSite();
  for (const n of STATES.keys()) await here.addNode(`quiet-${n}`, { profile: PROFILE });
  const request = manualRequest({ chain_profile_id: PROFILE, strategy: "all_at_once" });
  const { status, body } = await here.ask("POST", "/rollouts", request);
  expect([status, body]).toMatchObject([201, { counters: { total: STATES.length } }]);
  id = (body as RolloutView).id;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.step(id);
  const nodes = await here.db<
    { node_id: NodeId }[]
  >`select node_id from rollout_nodes where rollout_id = ${id} order by node_id`;
  for (const [n, state] of STATES.entries())
    await here.db`
      update rollout_nodes set ${here.db(state)} where rollout_id = ${id} and node_id = ${nodes[n]!.node_id}`;
});
afterAll(() => here.stop());

const load = (look: Look, reports: readonly ReportRow[]) =>
  here.db.begin(async (tx) => {
    const [rollout] = await tx<RolloutRecord[]>`
      select *, clock_timestamp() as db_now from rollouts where id = ${id}`;
    return loadBatch(tx, rollout!, reports, look);
  });

const byId = (nodes: readonly BatchNode[]) => nodes.map(({ nodeId }) => nodeId).toSorted();

test("ROLL-12: everyone of the batch but who waits, when everyone is looked at", async () => {
  const { batch, quiet } = await load(EVERYONE, []);
  expect(batch).toHaveLength(STATES.length - 1);
  expect(quiet).toEqual({ installing: 0, launchedAt: null, verifying: 0 });
});

test.each(LOOKS)("ROLL-12: the same as in memory, looking at %o", async (look) => {
  const { batch: whole } = await load(EVERYONE, []);
  for (const reporter of [null, ...whole.map(({ nodeId }) => nodeId)]) {
    const reported = new Set<NodeId>(reporter === null ? [] : [reporter]);
    const reports = [...reported].map((nodeId) => ({ nodeId }) as ReportRow);
    const { batch, quiet } = await load(look, reports);
    expect(byId(batch)).toEqual(byId(whole.filter((node) => isLookedAt(look, node, reported))));
    expect(quiet).toEqual(countQuiet(whole.filter((node) => !isLookedAt(look, node, reported))));
  }
});
