// What `rollout show` and the live views name as the next command of a rollout that is part of a group.
import { describe, expect, test } from "vitest";
import { nextStep } from "../../../src/cli/watch/next-step.ts";
import { rolloutSample } from "./samples.ts";
import { componentSample } from "./steer-samples.ts";

type Standing = readonly [status: string, code: string];
const seen = ([status, code]: Standing) => ({ status, why: { code, text: "…" } });
const ofComponent = (standing: Standing) => nextStep(componentSample(0, "consensus", seen(standing)).rollout);
const ofRollout = (standing: Standing) => nextStep(rolloutSample(seen(standing)));

const [SELF, GROUP] = ["000000c0", "fairlead group resume 9a2b0000"];

describe("the next command of a component", () => {
  test.each<readonly [...Standing, string | null]>([
    ["pending", "NOT_STARTED", null],
    ["running", "UPGRADING", null],
    ["paused", "CANARY_APPROVAL", `fairlead rollout approve-canary ${SELF} --reason "…"`],
    ["paused", "INTENT_EXPIRED", `fairlead rollout resume ${SELF} --manifest FILE`],
    ["paused", "INTENT_UNTRUSTED", `fairlead rollout resume ${SELF} --manifest FILE`],
    ["paused", "UNAVAILABLE_LIMIT", `fairlead rollout resume ${SELF}`],
    ["paused", "THRESHOLD_EXCEEDED", `fairlead rollout retry ${SELF}, then ${GROUP}; or force`],
    ["paused", "PAUSED", GROUP],
    ["rolling_back", "INTENT_EXPIRED", `fairlead rollout rollback ${SELF} --manifest FILE`],
    ["rolling_back", "INTENT_UNTRUSTED", `fairlead rollout rollback ${SELF} --manifest FILE`],
    ["rolling_back", "ROLLING_BACK", null],
    ["cancelled", "CANCELLED", null],
  ])("ROLL-11: that is %s with %s is %s", (status, code, command) => {
    expect(ofComponent([status, code])).toBe(command);
  });

  test("ROLL-11: a rollout of its own is resumed and rolled back by itself", () => {
    expect(ofRollout(["pending", "NOT_STARTED"])).toBe("fairlead rollout start 3f2a0000");
    expect(ofRollout(["paused", "PAUSED"])).toBe("fairlead rollout resume 3f2a0000");
    expect(ofRollout(["paused", "CANARY_FAILED"])).toBe(
      "fairlead rollout retry 3f2a0000, then resume; or force, or rollback",
    );
  });
});
