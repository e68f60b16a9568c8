// What a component of a group takes from a person; API, console and CLI ask the same function.
import { expect, test } from "vitest";
import { refusalOf } from "../../../src/core/rollout/allow.ts";
import { awaitedSignal, componentTakes } from "../../../src/core/rollout/members.ts";
import { ROLLOUT_STATUSES, SIGNALS, type RolloutStatus } from "../../../src/core/rollout/states.ts";

const OWN = ["force", "approve_canary", "retry", "skip", "give_up"];
const CODES = [
  "INTENT_EXPIRED",
  "INTENT_UNTRUSTED",
  "UNAVAILABLE_LIMIT",
  "CANARY_APPROVAL",
  "PAUSED",
  "THRESHOLD_EXCEEDED",
];
const taken = (status: RolloutStatus, whyCode: string | null) =>
  SIGNALS.filter((kind) => componentTakes({ status, whyCode }, kind));

test.each(ROLLOUT_STATUSES)(
  "ROLL-11: a %s component with nothing to wait for leaves steering to its group",
  (status) => {
    for (const code of [null, "PAUSED", "THRESHOLD_EXCEEDED", "SITE_RESTORED", "constructor"])
      expect(taken(status, code)).toEqual(OWN);
  },
);

test.each([
  ["paused", "INTENT_EXPIRED", "resume"],
  ["paused", "INTENT_UNTRUSTED", "resume"],
  ["paused", "UNAVAILABLE_LIMIT", "resume"],
  ["paused", "CANARY_APPROVAL", "approve_canary"],
  ["rolling_back", "INTENT_EXPIRED", "rollback"],
  ["rolling_back", "INTENT_UNTRUSTED", "rollback"],
] as const)("ROLL-11: a %s component with %s waits for a person's %s", (status, whyCode, kind) => {
  expect(awaitedSignal({ status, whyCode })).toBe(kind);
  expect(taken(status, whyCode)).toEqual(SIGNALS.filter((each) => each === kind || OWN.includes(each)));
});

test("ROLL-11: what a component waits for is never refused for its state", () => {
  const asked = {
    pauseRequested: false,
    cancelRequested: false,
    rollbackRequested: false,
    rollbackAllowed: true,
    hasOnTarget: true,
  };
  let waiting = 0;
  for (const status of ROLLOUT_STATUSES)
    for (const whyCode of CODES) {
      const kind = awaitedSignal({ status, whyCode });
      if (kind === null) continue;
      waiting += 1;
      expect(refusalOf({ ...asked, status, whyCode }, kind)).toBeNull();
    }
  expect(waiting).toBe(6);
});
