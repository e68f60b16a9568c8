// Small tables that several layers read: errors, phases, versions, assignments, explanations.
import { expect, test } from "vitest";
import { ERROR_CODES, EXIT, type ErrorCode } from "../../../src/core/error-codes.ts";
import { exitCodeOf, FairleadError, httpStatusOf, isErrorCode } from "../../../src/core/errors.ts";
import { explainRollout, type Explained } from "../../../src/core/rollout/explain.ts";
import { isNewer } from "../../../src/core/snapshot/envelope.ts";
import { ServiceAssignmentContent } from "../../../src/core/snapshot/service-assignment.ts";
import { progressAt, UPGRADE_ACTIONS, UpgradeProgress } from "../../../src/core/upgrade/phases.ts";
import { fingerprint, upgrading } from "../../support/trust.ts";

test("every error code has a status, an exit code and something to do next", () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    expect(httpStatusOf(code)).toBeGreaterThanOrEqual(400);
    expect(exitCodeOf(code)).toBeGreaterThan(EXIT.ok);
    expect(ERROR_CODES[code].next).toMatch(/^\S.{10,}[.?]$/s);
  }
  expect(["constructor", "toString", "NO_SUCH_CODE", 1].filter(isErrorCode)).toEqual([]);
});

test("a user sees what is wrong and what to do, never a stack or a cause", () => {
  const error = new FairleadError("NOT_FOUND", "no rollout 7", { id: 7 }, new Error("select … from secrets"));
  expect(error.body()).toEqual({
    code: "NOT_FOUND",
    message: "no rollout 7",
    next: ERROR_CODES.NOT_FOUND.next,
    detail: { id: 7 },
  });
  expect(new FairleadError("INTERNAL", "x").body()).not.toHaveProperty("detail");
});

test("the eight actions report phases in order and a progress that only grows (ROLL-4, ROLL-7)", () => {
  const reports = UPGRADE_ACTIONS.map((_, index) => UpgradeProgress.parse(progressAt(index)));
  expect(reports.map(({ phase }) => phase).join(" ")).toBe(
    "PREPARING PREPARING PREPARING STOPPED MUTATING MUTATING MUTATING STARTING",
  );
  expect(reports.map(({ progress_pct }) => progress_pct)).toEqual([0, 12, 25, 37, 50, 62, 75, 87]);
});

test.each([
  [1, 2, 1, 1, true],
  [1, 1, 1, 1, false],
  [1, 1, 1, 2, false],
  [2, 0, 1, 9, true],
  [1, 9, 2, 0, false],
])(
  "epoch %i version %i against epoch %i version %i: newer is %s (SNAP-11)",
  (epoch, version, e, v, newer) => {
    expect(isNewer({ epoch, version }, { epoch: e, version: v })).toBe(newer);
  },
);

test("an assignment is {current, target} or {target, rollback}, one per profile, and nothing between (SNAP-16)", () => {
  const takes = (...assignments: unknown[]) => ServiceAssignmentContent.safeParse({ assignments }).success;
  const { chain_profile_id, rollout_id, intent_digest } = upgrading();
  const common = { chain_profile_id, rollout_id, intent_digest, target: fingerprint("v2") };
  expect(takes(upgrading())).toBe(true);
  expect(takes({ kind: "settled", ...common, rollback: null })).toBe(true);
  expect(takes(upgrading(), upgrading())).toBe(false);
  expect(takes({ ...upgrading(), rollback: fingerprint("v1") })).toBe(false);
  expect(takes({ kind: "settled", ...common, current: fingerprint("v1") })).toBe(false);
  expect(takes({ kind: "upgrading", ...common })).toBe(false);
});

const AT_WORK: Explained = {
  id: "3f2a0000",
  intentValidUntil: "2026-01-02T00:00:00Z",
  status: "running",
  why: null,
  currentBatch: 0,
  batchCount: 3,
  inProgress: 2,
  silent: 0,
  waiting: null,
  healthUntil: null,
};

test.each([
  ["what stopped it", { status: "paused", why: { code: "PAUSED", text: "x" } }, "PAUSED"],
  ["that it was not started", { status: "pending" }, "NOT_STARTED"],
  ["that nodes are at work", { status: "running" }, "UPGRADING"],
  ["that health is observed", { status: "running", healthUntil: "2026-01-01T00:00:00Z" }, "OBSERVING_HEALTH"],
  ["nothing, for it is done", { status: "completed" }, undefined],
  ["that its cancel is not signed", { status: "cancelled" }, "CANCEL_UNSIGNED"],
] as const)("a rollout explains %s", (_, changes, code) => {
  expect(explainRollout({ ...AT_WORK, ...changes })?.code).toBe(code);
});

test.each([
  [1, "batch 1 of 3: 2 nodes at work, waiting for execution on eth-1"],
  [3, "batch 1 of 3: 2 nodes at work, waiting for execution on eth-1, and on 2 more"],
])("ROLL-28: a rollout with %i nodes behind another program's job says for which it waits", (nodes, text) => {
  const waiting = { node: "eth-1", profile: "execution", nodes };
  expect(explainRollout({ ...AT_WORK, waiting })?.text).toBe(text);
  expect(explainRollout({ ...AT_WORK, status: "rolling_back", waiting })?.text).toBe(
    text.replace("3:", "3 goes back:"),
  );
});

test("ROLL-30: a rollout with silent nodes names the command that gives them up, whatever else it waits for", () => {
  const command = "`fairlead rollout give-up 3f2a0000 --all-silent`";
  expect(explainRollout({ ...AT_WORK, silent: 1 })?.text).toBe(
    `batch 1 of 3: 2 nodes at work, 1 silent: wait for them, or give them up with ${command}`,
  );
  const why = { code: "ROLLING_BACK", text: "asked for" };
  expect(explainRollout({ ...AT_WORK, status: "rolling_back", why, silent: 2 })).toEqual({
    code: "ROLLING_BACK",
    text: `asked for; 2 silent: wait for them, or give them up with ${command}`,
  });
});
