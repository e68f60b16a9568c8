import { describe, expect, it } from "vitest";
import { controlsFor, isAllowed, questionFor } from "../../../src/console/pages/rollout/controls.ts";
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import type { RolloutStatus } from "../../../src/core/rollout/states.ts";
import { rollout } from "./samples.ts";

const counters = { ...rollout().counters, failed: 1, succeeded: 1 };
const enabled = (status: RolloutStatus, over: Partial<RolloutView> = {}) =>
  controlsFor(rollout({ status, counters, ...over }))
    .filter((control) => control.isEnabled)
    .map((control) => control.signal);

describe("the controls of a rollout", () => {
  it.each([
    ["pending", ["start", "cancel"]],
    ["running", ["pause", "retry", "force", "rollback", "cancel"]],
    ["paused", ["resume", "retry", "force", "rollback", "cancel"]],
    ["rolling_back", []],
    ["completed", ["rollback"]],
    ["failed", ["rollback"]],
    ["cancelled", ["rollback"]],
    ["rolled_back", ["rollback"]],
  ] as const)("ROLL-11: offer for a %s rollout exactly %j", (status, signals) => {
    expect(enabled(status)).toEqual(signals);
  });

  it("keep their places in every state", () => {
    const places = (status: RolloutStatus) => controlsFor(rollout({ status })).map(({ signal }) => signal);
    expect(places("completed")).toEqual(places("running"));
  });

  it("do not offer what was asked for already, or would change nothing", () => {
    expect(enabled("running", { pause_requested: true })).not.toContain("pause");
    expect(enabled("running", { cancel_requested: true })).toEqual(["force", "rollback"]);
    expect(enabled("running", { force_continue: true })).not.toContain("force");
    expect(enabled("paused", { counters: rollout().counters })).toEqual(["resume", "force", "cancel"]);
  });

  it("ROLL-12: a canary that waits can be approved and not resumed, and nothing else can be approved", () => {
    const why = { code: "CANARY_APPROVAL", text: "waits" };
    expect(enabled("paused", { why })).not.toContain("resume");
    expect(isAllowed(rollout({ status: "paused", why }), "approve_canary")).toBe(true);
    expect(isAllowed(rollout({ status: "paused" }), "approve_canary")).toBe(false);
    expect(isAllowed(rollout({ status: "running", why }), "approve_canary")).toBe(false);
  });

  it("ROLL-14: no way back is offered that the intent does not allow", () => {
    expect(enabled("completed", { rollback_allowed: false })).toEqual([]);
  });

  it("ROLL-11: a component is steered by its group, but for what only itself can be asked", () => {
    const group_id = "cccccccc-0000-4000-8000-000000000001";
    expect(enabled("paused", { group_id })).toEqual(["retry", "force"]);
    expect(enabled("paused", { group_id, why: { code: "PAUSED", text: "t" } })).toEqual(["retry", "force"]);
  });

  it.each(["INTENT_EXPIRED", "UNAVAILABLE_LIMIT"])(
    "ROLL-11: a component that waits with %s for a person can be resumed by itself",
    (code) => {
      const group_id = "cccccccc-0000-4000-8000-000000000001";
      const why = { code, text: "t" };
      expect(enabled("paused", { group_id, why })).toEqual(["resume", "retry", "force"]);
      expect(enabled("running", { group_id, why })).not.toContain("resume");
    },
  );

  it("an approval needs a reason, and a way back the profile's name typed", () => {
    expect(questionFor("approve_canary", rollout()).reason).toBe("required");
    expect(questionFor("pause", rollout())).toMatchObject({ reason: "optional" });
    expect(questionFor("rollback", rollout()).typed).toBe("harbor");
    expect(questionFor("cancel", rollout()).typed).toBeUndefined();
  });
});
