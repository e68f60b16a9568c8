// The key of an intent is revoked while its rollout runs (SNAP-15): nodes would refuse one launch after the other.
import { expect, test } from "vitest";
import {
  advanceAll,
  atWork,
  COMPLETED,
  everyoneReports,
  FAILED,
  lastSignal,
  started,
  T0,
} from "../../support/rollouts/scenes.ts";

const REVOKED = "key 0123456789ab is revoked";
const UNTRUSTED = { status: "paused", why: { code: "INTENT_UNTRUSTED" } } as const;

test("SNAP-15: a rollout whose key is revoked pauses at once with nodes at work, and says what to do", () => {
  const table = started({ nodes: 4, batchSize: 2, healthWaitMs: 0 });
  table.distrust(REVOKED);
  table.advance(T0 + 1);
  expect(table.rollout()).toMatchObject(UNTRUSTED);
  expect(table.rollout().why!.text).toContain(REVOKED);
  expect(table.rollout().why!.text).toContain(
    "Sign a new one with another release key, then resume, or cancel",
  );
  expect(table.incidents).toMatchObject([
    { category: "intent_untrusted", severity: "critical", nodeId: null },
  ]);
  table.advance(T0 + 2);
  expect(table.incidents).toHaveLength(1);
  everyoneReports(table, T0 + 3);
  expect(table.rollout()).toMatchObject(UNTRUSTED);
  expect(table.statuses()).toEqual(["succeeded", "succeeded", "pending", "pending"]);
});

test("SNAP-15: the rest of a batch that is being opened is not launched once the key is revoked", () => {
  const table = started({ nodes: 4, batchSize: 4, launchesPerStep: 2, healthWaitMs: 0 });
  expect(atWork(table)).toHaveLength(2);
  table.distrust(REVOKED);
  advanceAll(table, T0 + 1);
  expect([table.commands.length, table.rollout().status]).toEqual([2, "paused"]);
});

test("SNAP-15: a rollout that is started after its key was revoked launches nothing", () => {
  const table = started({ nodes: 1, batchSize: 1, intentUntrusted: REVOKED });
  expect(table.rollout()).toMatchObject(UNTRUSTED);
  expect(table.commands).toEqual([]);
});

test("SNAP-15: a bare resume leaves it paused, and a resume with a new intent lets it go on", () => {
  const table = started({ nodes: 2, batchSize: 1, healthWaitMs: 0 });
  table.distrust(REVOKED);
  everyoneReports(table, T0 + 1);
  table.signal("resume");
  table.advance(T0 + 2);
  expect(table.rollout()).toMatchObject(UNTRUSTED);
  table.renewIntent(T0 + 1_000_000);
  table.signal("resume");
  advanceAll(table, T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "running", why: null });
  everyoneReports(table, T0 + 4);
  expect(table.rollout().status).toBe("completed");
});

test("SNAP-15: a retry is not launched under a revoked key, and a cancel ends the rollout", () => {
  const table = started({ nodes: 2, batchSize: 1, healthWaitMs: 0 });
  everyoneReports(table, T0 + 1, FAILED);
  table.distrust(REVOKED);
  table.signal("retry");
  advanceAll(table, T0 + 2);
  expect([table.commands.length, table.rollout()]).toMatchObject([1, UNTRUSTED]);
  table.signal("cancel");
  table.advance(T0 + 3);
  expect(table.rollout().status).toBe("cancelled");
});

test("SNAP-15: an unhealthy node is not sent back under a revoked key: it would refuse, and a person is told", () => {
  const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
  table.distrust(REVOKED);
  for (const nodeId of atWork(table)) {
    table.report(nodeId, T0 + 1, COMPLETED);
    table.heartbeat(nodeId, T0 + 1, { applicationHealth: "critical" });
  }
  table.advance(T0 + 1);
  expect(table.nodes[0]).toMatchObject({ status: "failed", stands: "target", direction: "forward" });
  expect(table.incidents.map(({ title }) => title)).toContain(
    "an unhealthy node could not be put back: its intent is not trusted any more",
  );
});

test("SNAP-15: a way back under a revoked key waits, and the second rollback brings the intent", () => {
  const table = started({ nodes: 1, batchSize: 1, healthWaitMs: 0 });
  everyoneReports(table, T0 + 1);
  expect(table.rollout().status).toBe("completed");
  table.distrust(REVOKED);
  table.signal("rollback");
  table.advance(T0 + 2);
  table.advance(T0 + 3);
  expect(table.rollout()).toMatchObject({ status: "rolling_back", why: { code: "INTENT_UNTRUSTED" } });
  expect(table.rollout().why!.text).toContain("then ask for the rollback again");
  expect(table.incidents).toHaveLength(1);
  table.renewIntent(T0 + 1_000_000);
  table.signal("rollback");
  table.advance(T0 + 4);
  expect(lastSignal(table)).toMatchObject({ signal: "rollback", applied: true });
  expect(table.nodes[0]).toMatchObject({ status: "in_progress", direction: "reverse" });
});
