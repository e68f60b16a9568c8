// What a signal needs beyond its state; `decideRollout` and the API ask the same function.
import { expect, test } from "vitest";
import { refusalOf, type SignalFacts } from "../../../src/core/rollout/allow.ts";
import {
  can,
  isActive,
  ROLLOUT_STATUSES,
  SIGNALS,
  type SignalKind,
} from "../../../src/core/rollout/states.ts";

const PLAIN: SignalFacts = {
  status: "running",
  whyCode: null,
  pauseRequested: false,
  cancelRequested: false,
  rollbackRequested: false,
  rollbackAllowed: true,
  hasOnTarget: true,
};
const refusal = (kind: SignalKind, facts: Partial<SignalFacts>) =>
  refusalOf({ ...PLAIN, ...facts }, kind)?.code ?? null;

/** Pairs that the table of states has and that need something more. */
const CONDITIONED = ["paused approve_canary", "rolling_back rollback"];

const PAIRS = ROLLOUT_STATUSES.flatMap((status) => SIGNALS.map((signal) => [status, signal] as const));

test.each(PAIRS)(
  "ROLL-11: without more to it, %s + %s is refused exactly when the table says so",
  (status, kind) => {
    const open = can(status, kind) && !CONDITIONED.includes(`${status} ${kind}`);
    expect(refusal(kind, { status })).toBe(open ? null : "ILLEGAL_TRANSITION");
  },
);

test("ROLL-12: only a canary that waits for it is approved, and a resume is no approval", () => {
  const waits = { status: "paused", whyCode: "CANARY_APPROVAL" } as const;
  expect(refusal("approve_canary", waits)).toBeNull();
  expect(refusal("approve_canary", { ...waits, whyCode: "CANARY_FAILED" })).toBe("ILLEGAL_TRANSITION");
  expect(refusal("resume", waits)).toBe("CANARY_NOT_APPROVED");
  expect(refusal("resume", { ...waits, whyCode: "PAUSED" })).toBeNull();
  expect(refusal("force", waits)).toBeNull();
});

test("ROLL-14: a rollout that has ended without a node on its version has nothing to roll back", () => {
  for (const status of ROLLOUT_STATUSES) {
    const expected = !can(status, "rollback") || status === "rolling_back" ? "ILLEGAL_TRANSITION" : null;
    const found = refusal("rollback", { status, hasOnTarget: false });
    expect(found).toBe(isActive(status) ? expected : "NOTHING_TO_ROLL_BACK");
  }
});

test("ROLL-14: a rollback needs an intent that allows it, whatever the state", () => {
  for (const status of ["running", "paused", "completed", "failed", "cancelled"] as const) {
    expect(refusal("rollback", { status })).toBeNull();
    expect(refusal("rollback", { status, rollbackAllowed: false })).toBe("ROLLBACK_REFUSED");
  }
  expect(refusal("rollback", { status: "pending", rollbackAllowed: false })).toBe("ILLEGAL_TRANSITION");
});

test("ROLL-14: one that is rolling back takes a second rollback only for the intent that it waits for", () => {
  expect(refusal("rollback", { status: "rolling_back", whyCode: "INTENT_EXPIRED" })).toBeNull();
  expect(refusal("rollback", { status: "rolling_back", whyCode: "ROLLING_BACK" })).toBe("ILLEGAL_TRANSITION");
});

test.each([
  ["a pause takes back nothing but itself", "resume", { pauseRequested: true }, null],
  ["a resume without a pause", "resume", {}, "ILLEGAL_TRANSITION"],
  ["a pause after a cancel", "pause", { cancelRequested: true }, "ILLEGAL_TRANSITION"],
  ["a retry after a cancel", "retry", { cancelRequested: true }, "ILLEGAL_TRANSITION"],
  ["a cancel after a cancel", "cancel", { cancelRequested: true }, null],
  ["a rollback after a cancel", "rollback", { cancelRequested: true }, null],
  ["a pause after a rollback", "pause", { rollbackRequested: true }, "ILLEGAL_TRANSITION"],
  ["a cancel after a rollback", "cancel", { rollbackRequested: true }, "ILLEGAL_TRANSITION"],
  ["a retry after a rollback", "retry", { rollbackRequested: true }, "ILLEGAL_TRANSITION"],
  ["a rollback after a rollback", "rollback", { rollbackRequested: true }, "ILLEGAL_TRANSITION"],
] as const)("ROLL-11: %s on a running rollout", (_, kind, facts, code) => {
  expect(refusal(kind, facts)).toBe(code);
});
