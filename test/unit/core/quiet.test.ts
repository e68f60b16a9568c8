/** What a step does not look at one by one makes no difference to what it decides. */
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { decideRollout } from "../../../src/core/rollout/decide.ts";
import type { RolloutRows } from "../../../src/core/rollout/rows.ts";
import { UNHEARD_MS } from "../../../src/core/rollout/wake.ts";
import type { Decide } from "../../support/rollouts/rollout-table.ts";
import { atWork, COMPLETED, started, T0 } from "../../support/rollouts/scenes.ts";
import { simulate } from "../../simulation/simulate.ts";

const FOUR = { nodes: 4, batchSize: 4, healthWaitMs: 60_000 };

describe("a step looks one by one", () => {
  test("ROLL-12: at nobody of a batch at work that nothing was heard of", () => {
    const table = started(FOUR);
    const { batch, quiet } = table.load(T0 + 1);
    expect([batch, quiet]).toEqual([[], { installing: 4, launchedAt: T0, verifying: 0 }]);
  });

  test("ROLL-12: at who reported, and not at who did before", () => {
    const table = started(FOUR);
    const [first, second] = atWork(table);
    table.report(first!, T0 + 1, COMPLETED);
    table.advance(T0 + 1);
    table.report(second!, T0 + 2, COMPLETED);
    const { batch, quiet } = table.load(T0 + 2);
    expect(batch.map(({ nodeId }) => nodeId)).toEqual([second]);
    expect(quiet).toEqual({ installing: 2, launchedAt: T0, verifying: 1 });
  });

  test("ROLL-15: at who is installed and was heard of when the wait is over, and at everyone when it is long over", () => {
    const table = started(FOUR);
    const [silent, ...others] = atWork(table);
    for (const node of atWork(table)) table.report(node, T0 + 1, COMPLETED);
    table.advance(T0 + 1);
    const due = T0 + 1 + FOUR.healthWaitMs;
    expect(table.wakeAt()).toBe(due);
    for (const node of others) table.heartbeat(node, due);
    expect(table.load(due - 1).batch).toEqual([]);
    const { batch, quiet } = table.load(due);
    expect(batch.map(({ nodeId }) => nodeId)).toEqual(others);
    expect(quiet.verifying).toBe(1);
    table.advance(due);
    expect([atWork(table), table.wakeAt()]).toEqual([[silent], due + LIMITS.healthRecheckMs]);
    expect(table.load(due + LIMITS.healthHeartbeatGraceMs).batch).toHaveLength(1);
  });

  test("ROLL-15: at one more than it judges, of those that it could judge", () => {
    const table = started({ ...FOUR, settlesPerStep: 2 });
    for (const node of atWork(table)) table.report(node, T0 + 1, COMPLETED);
    table.advance(T0 + 1);
    const due = T0 + 1 + FOUR.healthWaitMs;
    for (const node of atWork(table)) table.heartbeat(node, due);
    expect(table.load(due)).toMatchObject({ batch: { length: 3 }, quiet: { verifying: 1 } });
  });

  test("ROLL-15: at who has been silent for as long as a command lives", () => {
    const table = started(FOUR);
    expect(table.wakeAt()).toBe(T0 + UNHEARD_MS);
    expect(table.load(T0 + UNHEARD_MS - 1).batch).toEqual([]);
    expect(table.load(T0 + UNHEARD_MS).batch).toHaveLength(4);
  });

  test.each(["retry", "pause"] as const)("ROLL-11: at everyone when somebody asks for a %s", (kind) => {
    const table = started(FOUR);
    table.signal(kind);
    expect(table.load(T0 + 1)).toMatchObject({ batch: { length: 4 }, quiet: { installing: 0 } });
  });

  test("ROLL-12: at everyone where a limit of nodes that are away counts them", () => {
    const table = started({ ...FOUR, maxUnavailable: { label: "zone", count: 4 } });
    expect(table.load(T0 + 1).batch).toHaveLength(4);
  });
});

test("ROLL-15: a step judges so many nodes at most, and the next follows at once", () => {
  const table = started({ ...FOUR, settlesPerStep: 3 });
  for (const node of atWork(table)) table.report(node, T0 + 1, COMPLETED);
  table.advance(T0 + 1);
  const due = T0 + 1 + FOUR.healthWaitMs;
  for (const node of atWork(table)) table.heartbeat(node, due);
  table.advance(due);
  expect([atWork(table).length, table.wakeAt()]).toEqual([1, due + 1]);
  table.advance(due + 1);
  expect(table.rollout().status).toBe("completed");
});

test("ROLL-15: a node that is waited for keeps none of the others from its verdict", () => {
  const table = started({ ...FOUR, settlesPerStep: 1 });
  const [silent, ...others] = atWork(table);
  for (const node of atWork(table)) table.report(node, T0 + 1, COMPLETED);
  table.advance(T0 + 1);
  const due = T0 + 1 + FOUR.healthWaitMs;
  for (const node of others) table.heartbeat(node, due);
  for (let at = due; atWork(table).length > 1; at = table.wakeAt()!) table.advance(at);
  expect(atWork(table)).toEqual([silent]);
});

/** Everything that is decided, but when to look again: who looks at fewer nodes may look again sooner. */
const decided = (rows: RolloutRows, now: number) => {
  const { wakeAt, nodes, events, ...decision } = decideRollout(rows, now);
  const sorted = (list: readonly object[]): string[] => list.map((each) => JSON.stringify(each)).toSorted();
  return {
    decision: { ...decision, nodes: sorted(nodes), events: sorted(events) },
    wakeAt: wakeAt ?? Infinity,
  };
};

test("ROLL-12: through 300 simulated stories each step decides as if it had looked at everyone", () => {
  let [steps, quietSteps] = [0, 0];
  const compare: Decide = (rows, now, whole) => {
    const [ours, theirs] = [decided(rows, now), decided(whole(), now)];
    steps += 1;
    if (rows.quiet.installing + rows.quiet.verifying > 0) quietSteps += 1;
    // The last report of a batch without a wait: those that were quiet are judged in the step after it.
    const isNextStep = ours.wakeAt === now + 1 && theirs.decision.nodes.length > ours.decision.nodes.length;
    // Compared as text first: a hundred thousand steps are compared.
    const isSame = JSON.stringify(ours.decision) === JSON.stringify(theirs.decision);
    if (!isNextStep && !isSame) expect(ours.decision).toEqual(theirs.decision);
    if (ours.wakeAt > theirs.wakeAt) expect(ours.wakeAt).toBeLessThanOrEqual(theirs.wakeAt);
    return decideRollout(rows, now);
  };
  for (let seed = 1; seed <= 300; seed += 1) simulate(seed, { decide: compare });
  expect(steps).toBeGreaterThan(1_000);
  expect(quietSteps).toBeGreaterThan(100);
}, 60_000);
