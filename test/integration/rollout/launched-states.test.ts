// The state of a node while a rollout has it: in rows as in the table that unit tests and the simulation run on.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { NodeId, RolloutId } from "../../../src/core/ids.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { loadBatch } from "../../../src/server/rollout/load-nodes.ts";
import { enterMaintenance } from "../../../src/server/rollout/maintenance.ts";
import type { RolloutRecord } from "../../../src/server/rollout/rollout-record.ts";
import { createRolloutTable } from "../../support/rollouts/rollout-table.ts";
import { everyoneReports, T0 } from "../../support/rollouts/scenes.ts";
import { manualRequest } from "../../support/server/creation-site.ts";
import { startDrivenSite, type DrivenSite } from "../../support/server/driven-site.ts";

let here: DrivenSite;
beforeAll(async () => void (here = await startDrivenSite()));
afterAll(() => here.stop());

const HEALTH_WAIT_SECONDS = 3_600;

async function created(profile: string, nodes: readonly string[]): Promise<RolloutId> {
  for (const name of nodes) await here.addNode(name, { profile });
  const request = manualRequest({
    chain_profile_id: profile,
    batch_size: nodes.length,
    health_wait_seconds: HEALTH_WAIT_SECONDS,
  });
  return ((await here.ask("POST", "/rollouts", request)).body as RolloutView).id;
}

const stateOfRow = (id: RolloutId): Promise<string> =>
  here.db.begin(async (tx) => {
    const [record] = await tx<RolloutRecord[]>`select * from rollouts where id = ${id}`;
    const { batch } = await loadBatch(tx, record!, [], { whole: true, judged: null, launchedUntil: 0 });
    return batch[0]!.facts.nodeState;
  });

/** Launched, installed with a heartbeat beside it, and settled after its wait. */
async function statesInRows(before: string): Promise<string[]> {
  const profile = `states-${before}`;
  const id = await created(profile, [`${profile}-a`]);
  if (before === "down") await here.db`update nodes set state = 'down' where name = ${`${profile}-a`}`;
  else await here.db`update node_profiles set state = ${before} where chain_profile_id = ${profile}`;
  await here.ask("POST", `/rollouts/${id}/start`, {});
  await here.step(id);
  const states = [await stateOfRow(id)];
  await here.report(id);
  states.push(await stateOfRow(id));
  await here.db`
    update rollouts set health_until = now() where id = ${id}`;
  await here.settle();
  expect(await here.statusesOf(id)).toEqual(["succeeded"]);
  return states;
}

function statesInTable(nodeState: "active" | "down" | "degraded" | "failed"): string[] {
  const table = createRolloutTable({ nodes: 1, batchSize: 1, healthWaitMs: HEALTH_WAIT_SECONDS * 1000 });
  const node = table.nodes[0]!;
  node.facts = { ...node.facts, nodeState };
  table.signal("start");
  table.advance(T0);
  const states: string[] = [node.facts.nodeState];
  everyoneReports(table, T0 + 1);
  states.push(node.facts.nodeState);
  const due = table.rollout().healthUntil!;
  table.heartbeat(node.nodeId, due);
  table.advance(due);
  expect(node.status).toBe("succeeded");
  return states;
}

test.each([
  ["active", ["maintenance", "maintenance"]],
  ["degraded", ["maintenance", "maintenance"]],
  ["failed", ["maintenance", "maintenance"]],
  ["down", ["down", "maintenance"]],
] as const)(
  "ROLL-15: a node that is launched while %s has the same states in rows and in the table: a launch is no heartbeat",
  async (before, expected) => {
    expect(await statesInRows(before)).toEqual(expected);
    expect(statesInTable(before)).toEqual(expected);
  },
);

test("ROLL-30: the profile of a node that was revoked before its launch does not enter maintenance", async () => {
  const id = await created("revoked-before", ["kept", "revoked"]);
  await here.db`update nodes set revoked_at = now() where name = 'revoked'`;
  const ids = await here.db<{ id: NodeId }[]>`select id from nodes where name in ('kept', 'revoked')`;
  const launched = await here.db.begin((tx) =>
    enterMaintenance(
      tx,
      id,
      ids.map((row) => row.id),
    ),
  );
  expect(launched).toHaveLength(1);
  const states = await here.db<{ name: string; state: string }[]>`
    select n.name, np.state from node_profiles np join nodes n on n.id = np.node_id
    where np.chain_profile_id = 'revoked-before' order by n.name`;
  expect(states.map(({ name, state }) => [name, state])).toEqual([
    ["kept", "maintenance"],
    ["revoked", "active"],
  ]);
});
