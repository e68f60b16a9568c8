import { expect, test } from "vitest";
import {
  can,
  isActive,
  isSettled,
  NODE_UPGRADE_STATUSES,
  ROLLOUT_STATUSES,
  SIGNALS,
  step,
  type RolloutEvent,
  type RolloutStatus,
} from "../../../src/core/rollout/states.ts";

const EVENTS: RolloutEvent[] = [...SIGNALS, "halt", "complete", "fail", "end_rollback"];

/** Every pair that leads somewhere; all others lead nowhere. */
const TABLE: Record<string, RolloutStatus> = {
  "pending start": "running",
  "pending cancel": "cancelled",
  "pending skip": "pending",
  "pending give_up": "pending",
  "running pause": "paused",
  "running cancel": "cancelled",
  "running force": "running",
  "running rollback": "rolling_back",
  "running retry": "running",
  "running skip": "running",
  "running give_up": "running",
  "running halt": "paused",
  "running complete": "completed",
  "running fail": "failed",
  "paused resume": "running",
  "paused cancel": "cancelled",
  "paused force": "running",
  "paused approve_canary": "running",
  "paused rollback": "rolling_back",
  "paused retry": "paused",
  "paused skip": "paused",
  "paused give_up": "paused",
  "paused fail": "failed",
  "rolling_back rollback": "rolling_back",
  "rolling_back give_up": "rolling_back",
  "rolling_back end_rollback": "rolled_back",
  "rolled_back rollback": "rolling_back",
  "completed rollback": "rolling_back",
  "failed rollback": "rolling_back",
  "cancelled rollback": "rolling_back",
};

const PAIRS = ROLLOUT_STATUSES.flatMap((status) => EVENTS.map((event) => [status, event] as const));

test.each(PAIRS)("a %s rollout answers %s as the table says (ROLL-11)", (status, event) => {
  const to = TABLE[`${status} ${event}`];
  expect(step(status, event)).toBe(to);
  expect(can(status, event)).toBe(to !== undefined);
});

test("the statuses are the wire's: eight of a rollout, of which four are active, and seven of a node", () => {
  expect(ROLLOUT_STATUSES.filter(isActive)).toEqual(["pending", "running", "paused", "rolling_back"]);
  expect(ROLLOUT_STATUSES.filter((status) => !isActive(status))).toEqual([
    "completed",
    "failed",
    "cancelled",
    "rolled_back",
  ]);
  expect(NODE_UPGRADE_STATUSES.filter((status) => !isSettled(status))).toEqual(["pending", "in_progress"]);
  expect(NODE_UPGRADE_STATUSES.filter(isSettled)).toEqual([
    "succeeded",
    "failed",
    "rolled_back",
    "failed_rollback",
    "skipped",
  ]);
});
