import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { judgeHealth, type HealthFacts } from "../../../src/core/rollout/health.ts";
import { PREVIOUS, TARGET } from "../../support/rollouts/created-rows.ts";

const STARTED = 1_000_000;
const DUE = STARTED + 60_000;
const GRACE = LIMITS.healthHeartbeatGraceMs;

const well: HealthFacts = {
  heartbeatAt: DUE - 1000,
  applicationHealth: "ok",
  syncStatus: "synced",
  nodeState: "maintenance",
  restarts: 0,
  runningFingerprint: TARGET,
};
const judge = (changes: Partial<HealthFacts>, now = DUE) =>
  judgeHealth({ ...well, ...changes }, { startedAt: STARTED, due: DUE, availableSince: 0 }, TARGET, now);

test.each<[string, Partial<HealthFacts>]>([
  ["all is well", {}],
  ["it is still syncing", { syncStatus: "syncing" }],
  ["it is degraded", { applicationHealth: "degraded" }],
  [
    "it is syncing, degraded and was restarted twice",
    { syncStatus: "syncing", applicationHealth: "degraded", restarts: 2 },
  ],
  ["the node is active, in maintenance or degraded", { nodeState: "degraded" }],
  ["nothing is said of sync or health", { syncStatus: null, applicationHealth: null }],
])("a node is healthy when %s (ROLL-15)", (_, facts) => {
  expect(judge(facts)).toEqual({ kind: "healthy" });
});

test.each<[string, string, Partial<HealthFacts>]>([
  ["HEALTH_CRITICAL", "its probe is refused", { applicationHealth: "critical" }],
  ["HEALTH_STALLED", "it stalls", { syncStatus: "stalled" }],
  ["HEALTH_NODE_DOWN", "the node is down", { nodeState: "down" }],
  ["HEALTH_NODE_DOWN", "the node has failed", { nodeState: "failed" }],
  ["HEALTH_CRASH_LOOP", "it was restarted three times", { restarts: LIMITS.crashLoopRestarts }],
  ["HEALTH_WRONG_FINGERPRINT", "it runs the previous version", { runningFingerprint: PREVIOUS }],
  ["HEALTH_WRONG_FINGERPRINT", "nothing runs", { runningFingerprint: null }],
])("each criterion fails alone: %s when %s (ROLL-15)", (code, _, facts) => {
  expect(judge(facts)).toMatchObject({ kind: "unhealthy", code });
});

test.each([
  ["never", null, "HEALTH_NO_HEARTBEAT"],
  ["before the start", STARTED - 1, "HEALTH_NO_HEARTBEAT"],
  ["after the start, but long before the end of the wait", DUE - GRACE - 1, "HEALTH_NODE_DOWN"],
])("a heartbeat that came %s is waited for, and missed when the grace is over", (_, heartbeatAt, code) => {
  expect(judge({ heartbeatAt })).toEqual({ kind: "waiting" });
  expect(judge({ heartbeatAt }, DUE + GRACE - 1)).toEqual({ kind: "waiting" });
  expect(judge({ heartbeatAt }, DUE + GRACE)).toMatchObject({
    kind: "unhealthy",
    code,
  });
});

test("a wait shorter than the grace needs one heartbeat after the start", () => {
  const quick = (heartbeatAt: number) =>
    judgeHealth(
      { ...well, heartbeatAt },
      { startedAt: STARTED, due: STARTED, availableSince: 0 },
      TARGET,
      STARTED,
    );
  expect(quick(STARTED)).toEqual({ kind: "healthy" });
  expect(quick(STARTED - 1)).toEqual({ kind: "waiting" });
});
