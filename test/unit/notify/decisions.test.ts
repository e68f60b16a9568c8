// What is told of an event, to whom, and when it is tried again.

import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { notificationOf, type StoredEvent } from "../../../src/core/notify/notifications.ts";
import { retryDelayMs } from "../../../src/core/notify/retry.ts";
import { nodeSubjectOf, rolloutSubjectOf } from "../../../src/core/notify/subjects.ts";

const event = (kind: string, data: object): StoredEvent => ({
  id: 1,
  at: 0,
  kind,
  rollout_id: "r",
  node_id: "n",
  data: { ...data },
});
const status = (from: string, to: string) => event("rollout.status", { from, to, why: null });

test.each([
  [status("pending", "running"), "rollout_started", "started"],
  [status("paused", "running"), null, "progress"],
  [status("running", "paused"), "rollout_paused", "progress"],
  [status("running", "completed"), "rollout_completed", "completed"],
  [status("running", "failed"), "rollout_failed", "completed"],
  [status("running", "cancelled"), null, "completed"],
  [status("completed", "rolling_back"), "rollback_initiated", "progress"],
  [status("rolling_back", "rolled_back"), "rollback_completed", "completed"],
  [event("rollout.batch", { batch: 1 }), null, "progress"],
  [event("rollout.signal", { signal: "pause" }), null, null],
  [event("incident.opened", {}), "incident_opened", null],
  [event("incident.acknowledged", {}), null, null],
  [event("incident.resolved", {}), "incident_resolved", null],
  [event("node.state", { from: "active", to: "down" }), null, null],
])("ROLL-19: %o is told as %s, on NATS as %s", (stored, notification, subject) => {
  expect([notificationOf(stored), rolloutSubjectOf(stored)]).toEqual([notification, subject]);
});

const upgrade = (data: object) => event("node.upgrade", { action: null, error: null, ...data });

test.each([
  [upgrade({ status: "in_progress", phase: "PREPARING" }), null, "upgrade_started"],
  [upgrade({ status: "in_progress", phase: "PREPARING" }), "VERIFYING", "upgrade_started"],
  [upgrade({ status: "in_progress", phase: "PREPARING", action: "backup_state" }), "PREPARING", null],
  [
    upgrade({ status: "in_progress", phase: "MUTATING", action: "install_artifact" }),
    "STOPPED",
    "upgrade_phase_changed",
  ],
  [upgrade({ status: "in_progress", phase: "MUTATING", action: "write_configs" }), "MUTATING", null],
  [upgrade({ status: "in_progress", phase: "VERIFYING" }), "STARTING", "upgrade_phase_changed"],
  [upgrade({ status: "succeeded", phase: "VERIFYING" }), "VERIFYING", "upgrade_completed"],
  [upgrade({ status: "failed_rollback", phase: null }), "MUTATING", "upgrade_completed"],
  [upgrade({ status: "skipped", phase: null }), null, null],
  [status("pending", "running"), null, null],
])("ROLL-19: %o after %s is told of its node as %s", (stored, before, subject) => {
  expect(nodeSubjectOf(stored, before)).toBe(subject);
});

test("ROLL-19: a delivery is tried again later and later, within a bound and spread by jitter", () => {
  const delays = Array.from({ length: LIMITS.webhookAttemptsMax }, (_, i) => retryDelayMs(i + 1, 0.999));
  expect(delays).toEqual(delays.toSorted((a, b) => a - b));
  expect(delays[0]).toBeGreaterThan(LIMITS.webhookRetryBaseMs * 0.99);
  expect(delays.at(-1)).toBeLessThanOrEqual(LIMITS.webhookRetryMaxMs);
  expect(retryDelayMs(1, 0)).toBe(LIMITS.webhookRetryBaseMs / 2);
});
