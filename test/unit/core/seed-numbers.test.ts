// Numbers that stand in the requirements, as they stand there: here they are literal, so that none moves unnoticed.
import { describe, expect, test } from "vitest";
import { Name, ProfileId, Version } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { COMMAND_TYPE_UPGRADE } from "../../../src/core/protocol/command.ts";
import { waitOf } from "../../../src/core/rollout/wake.ts";
import { UPGRADE_ACTIONS } from "../../../src/core/upgrade/phases.ts";
import { createdRows } from "../../support/rollouts/created-rows.ts";

const SECOND = 1_000;
const MINUTE = 60_000;

test("ROLL-4: the eight actions have these names, in this order, and this much time each", () => {
  expect(UPGRADE_ACTIONS.map(({ name, timeoutMs }) => [name, timeoutMs])).toEqual([
    ["backup_state", 60_000],
    ["acquire_artifact", 300_000],
    ["verify_artifact", 30_000],
    ["stop_node", 60_000],
    ["install_artifact", 30_000],
    ["write_configs", 30_000],
    ["reload_daemon", 10_000],
    ["start_node", 30_000],
  ]);
});

test.each<[string, string, number, number]>([
  ["ROLL-5", "an upgrade may go forward for ten minutes", LIMITS.scheduleToCloseMs, 10 * MINUTE],
  ["ROLL-5", "its way back has five minutes of its own", LIMITS.compensationBudgetMs, 5 * MINUTE],
  ["ROLL-5", "a node may try three times unless its intent says otherwise", LIMITS.maxAttemptsDefault, 3],
  ["ROLL-7", "a node is heard of every thirty seconds", LIMITS.heartbeatIntervalMs, 30 * SECOND],
  ["ROLL-7", "and every ten while it is upgraded", LIMITS.heartbeatUpgradeIntervalMs, 10 * SECOND],
  ["USE-6", "an operator's token lives fifteen minutes", LIMITS.operatorTokenLifetimeMs, 15 * MINUTE],
  ["ROLL-10", "an upgrade is a command of this type", COMMAND_TYPE_UPGRADE, 9],
  ["ROLL-15", "fewer restarts than three are no crash loop", LIMITS.crashLoopRestarts, 3],
  [
    "ROLL-15",
    "a node stuck in maintenance is freed after thirty minutes",
    LIMITS.maintenanceLimitMs,
    30 * MINUTE,
  ],
])("%s: %s", (_id, _what, ours, wanted) => {
  expect(ours).toBe(wanted);
});

describe("the health wait", () => {
  const { rollout } = createdRows({ nodes: 4, batchSize: 1, canarySize: 1, healthWaitMs: 90_000 });

  test("ROLL-12: is twice as long for the canary, and for nobody else", () => {
    expect(waitOf({ ...rollout, currentBatch: 0 })).toBe(180_000);
    expect(waitOf({ ...rollout, currentBatch: 1 })).toBe(90_000);
    expect(waitOf({ ...rollout, strategy: "rolling", currentBatch: 0 })).toBe(90_000);
  });
});

test.each([
  ["a profile's id", ProfileId, 100],
  ["a program's name", Name, 100],
  ["a version", Version, 50],
])("ROLL-2: %s has as many characters as its column, and no more", (_what, schema, most) => {
  expect(schema.safeParse("a".repeat(most)).success).toBe(true);
  expect(schema.safeParse("a".repeat(most + 1)).success).toBe(false);
});
