// The nodes that a step asks the database for are those that `lookedAt` names, and the rest is counted as there.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { countQuiet, lookedAt, type Look } from "../../../src/core/rollout/quiet.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import type { BatchNode, ReportRow } from "../../../src/core/rollout/rows.ts";
import { loadBatch } from "../../../src/server/rollout/load-nodes.ts";
import type { RolloutRecord } from "../../../src/server/rollout/rollout-record.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

const PROFILE = "quiet-rows";
const OLD = Date.UTC(2026, 0, 1);

const DUE = OLD + 3_600_000;
const GRACE = LIMITS.healthHeartbeatGraceMs;
const installed = {
  status: "in_progress",
  upgrade_phase: "VERIFYING",
  direction: "forward",
  launched_at: new Date(OLD),
  installed_at: new Date(DUE - GRACE + 5_000),
} as const;
const heardAt = (ms: number | null, node = "active", program = "maintenance") => ({
  heard: ms,
  node,
  program,
});

/** One node in each state that a batch may have, and when it was last heard of. */
const STATES = [
  [{ status: "pending", upgrade_phase: null, direction: "forward", launched_at: null }, heardAt(null)],
  ...[OLD, OLD + 1, OLD + 2].map(
    (at, n) =>
      [
        {
          status: "in_progress",
          upgrade_phase: n === 2 ? "APPLYING" : "PREPARING",
          direction: "forward",
          launched_at: new Date(at),
        },
        heardAt(OLD),
      ] as const,
  ),
  [
    { status: "in_progress", upgrade_phase: "PREPARING", direction: "forward", launched_at: null },
    heardAt(OLD),
  ],
  [
    { status: "in_progress", upgrade_phase: null, direction: "forward", launched_at: new Date(OLD + 1) },
    heardAt(OLD),
  ],
  [{ ...installed, installed_at: null }, heardAt(DUE)],
  [installed, heardAt(null)],
  [installed, heardAt(null, "down")],
  [installed, heardAt(null, "active", "failed")],
  [installed, heardAt(DUE - GRACE + 4_999)], // before it was installed
  [installed, heardAt(DUE - GRACE + 5_000)],
  [installed, heardAt(DUE)],
  [{ ...installed, installed_at: new Date(OLD) }, heardAt(DUE - GRACE - 1)], // and not since
  [{ ...installed, installed_at: new Date(OLD) }, heardAt(DUE - GRACE)],
  [{ ...installed, direction: "reverse" }, heardAt(OLD)],
  [{ ...installed, direction: "reverse", upgrade_phase: "APPLYING" }, heardAt(OLD)],
  [{ ...installed, status: "succeeded", upgrade_phase: null }, heardAt(DUE)],
  [{ ...installed, status: "failed", upgrade_phase: null }, heardAt(DUE)],
] as const;

const EVERYBODY_DUE = { due: DUE, availableSince: 0, now: DUE + GRACE, most: 99 };
const LOOKS: readonly Look[] = [
  null,
  { due: DUE, availableSince: 0, now: DUE, most: 99 },
  { due: DUE, availableSince: 0, now: DUE + GRACE - 1, most: 99 },
  EVERYBODY_DUE,
  { ...EVERYBODY_DUE, availableSince: DUE + GRACE },
].flatMap((judged) =>
  [OLD - 1, OLD, OLD + 1, OLD + 2].map((launchedUntil) => ({ whole: false, judged, launchedUntil })),
);
const EVERYONE: Look = { whole: true, judged: null, launchedUntil: 0 };

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
  for (const [n, [state, { heard, node, program }]] of STATES.entries()) {
    const { node_id } = nodes[n]!;
    await here.db`update rollout_nodes set ${here.db(state)} where rollout_id = ${id} and node_id = ${node_id}`;
    await here.db`update nodes set state = ${node} where id = ${node_id}`;
    await here.db`update node_profiles set state = ${program} where node_id = ${node_id}`;
    if (heard !== null)
      await here.db`
        insert into node_heartbeats (node_id, received_at, agent_version, applied, programs)
        values (${node_id}, ${new Date(heard)}, '1', '{}', '[]')`;
  }
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
    const inMemory = lookedAt(look, whole, reported);
    expect(byId(batch)).toEqual(byId(inMemory));
    expect(quiet).toEqual(countQuiet(whole.filter((node) => !inMemory.includes(node))));
  }
});

test("ROLL-15: who is waited for is not among those that are judged, and everybody is when it is over", async () => {
  const judgedAt = async (now: number, most = 99) =>
    load({ whole: false, judged: { due: DUE, availableSince: 0, now, most }, launchedUntil: OLD - 1 }, []);
  const before = await judgedAt(DUE);
  expect([before.batch.length, before.quiet.verifying]).toEqual([3 + 6, 3]); // two go back, one was never launched
  const after = await judgedAt(DUE + GRACE);
  expect([after.batch.length, after.quiet.verifying]).toEqual([3 + 9, 0]);
  const some = await judgedAt(DUE + GRACE, 3);
  expect([some.batch.length, some.quiet.verifying]).toEqual([3 + 3, 6]);
});
