import { expect, test } from "vitest";
import { groupRefusalOf } from "../../../../src/core/group/allow.ts";
import {
  GROUP_SIGNALS,
  GROUP_STATUSES,
  isGroupActive,
  stepGroup,
  type GroupEvent,
  type GroupStatus,
} from "../../../../src/core/group/states.ts";
import { createGroupTable } from "../../../support/rollouts/group-table.ts";

const EVENTS: GroupEvent[] = [...GROUP_SIGNALS, "halt", "complete", "settle_partial", "fail", "rolled_back"];

/** Every pair that leads somewhere; all others lead nowhere. */
const TABLE: Record<string, GroupStatus> = {
  "pending start": "running",
  "pending cancel": "cancelled",
  "running pause": "paused",
  "running halt": "paused",
  "running cancel": "cancelled",
  "running rollback": "rolling_back",
  "running complete": "completed",
  "running settle_partial": "partial",
  "running fail": "failed",
  "paused resume": "running",
  "paused skip": "running",
  "paused cancel": "cancelled",
  "paused rollback": "rolling_back",
  "rolling_back rolled_back": "rolled_back",
  "completed rollback": "rolling_back",
  "partial rollback": "rolling_back",
  "failed rollback": "rolling_back",
  "cancelled rollback": "rolling_back",
  "rolled_back rollback": "rolling_back",
};

const PAIRS = GROUP_STATUSES.flatMap((status) => EVENTS.map((event) => [status, event] as const));

test.each(PAIRS)("a %s group answers %s as the table says (ROLL-11)", (status, event) => {
  expect(stepGroup(status, event)).toBe(TABLE[`${status} ${event}`]);
});

const SIGNAL_PAIRS = GROUP_STATUSES.flatMap((status) =>
  GROUP_SIGNALS.map((signal) => [status, signal] as const),
);

test.each(SIGNAL_PAIRS)(
  "ROLL-11: a %s group whose component failed takes %s exactly when the table says so",
  (status, kind) => {
    const failing = {
      nodes: 1,
      batchSize: 1,
      status: "paused",
      why: { code: "THRESHOLD_EXCEEDED", text: "" },
    } as const;
    const { components } = createGroupTable({ failurePolicy: "manual", components: [failing] }).load(0);
    const facts = { status, pauseRequested: false, cancelRequested: false, failedComponent: 0, why: null };
    const refused = groupRefusalOf(facts, components, kind);
    expect(refused === null).toBe(TABLE[`${status} ${kind}`] !== undefined);
  },
);

test("a group has the nine statuses of the wire, four of them active", () => {
  expect(GROUP_STATUSES.filter(isGroupActive)).toEqual(["pending", "running", "paused", "rolling_back"]);
  expect(GROUP_STATUSES.filter((status) => !isGroupActive(status))).toEqual([
    "completed",
    "partial",
    "failed",
    "cancelled",
    "rolled_back",
  ]);
});
