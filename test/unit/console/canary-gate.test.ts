import { describe, expect, it } from "vitest";
import { gateState, observedText, openPoints } from "../../../src/console/pages/rollout/canary-gate.ts";
import { AT, fleetNode, program, rollout, upgrade } from "./samples.ts";

const NOW = Date.parse(AT) + 90_000;
const canary = (over = {}) =>
  rollout({ strategy: "canary", canary_size: 1, migration_type: "breaking", ...over });

describe("the gate after a canary (ROLL-12)", () => {
  it.each([
    ["ahead", { current_batch: -1 }],
    ["upgrading", { current_batch: 0 }],
    ["observing", { current_batch: 0, health_until: AT }],
    ["waiting", { status: "paused", why: { code: "CANARY_APPROVAL", text: "t" } }],
    ["failed", { status: "paused", why: { code: "CANARY_FAILED", text: "t" } }],
    ["approved", { current_batch: 1, canary_approved_at: AT, canary_approved_by: "mara" }],
    ["passed", { current_batch: 1 }],
    ["over", { status: "cancelled" }],
  ] as const)("is %s", (state, over) => {
    expect(gateState(canary(over))).toBe(state);
  });

  it("ROLL-12: tells how long ago the canary was judged, and that it was not while one node is open", () => {
    const done = upgrade(1, { status: "succeeded", ended_at: AT });
    expect(observedText([done], NOW)).toBe("judged 1 min 30 s ago");
    expect(observedText([done, upgrade(2)], NOW)).toBe("not judged yet");
    expect(observedText([], NOW)).toBe("not judged yet");
  });

  it("ROLL-12: names what an approver should know: open and failed nodes, bad health now, a closed window", () => {
    const heard = { last_heartbeat_at: new Date(NOW).toISOString() };
    const well = fleetNode(1, { ...heard, programs: [program()] });
    const ill = fleetNode(2, { ...heard, programs: [program({ application_health: "critical" })] });
    const silent = fleetNode(3, { programs: [program()] });
    const nodes = [upgrade(1, { status: "succeeded" }), upgrade(2, { status: "failed" }), upgrade(3)];
    const intent = { digest: rollout().manifest_content_hash, not_after: AT };
    expect(openPoints(canary({ intent }), nodes, [well, ill, undefined, silent], NOW)).toEqual([
      "1 canary node not judged yet",
      "1 canary node failed",
      "not known to be healthy now: node-2, node-3",
      "the signed window is over: approve with `fairlead rollout approve-canary --manifest`",
    ]);
    expect(openPoints(canary(), [upgrade(1, { status: "succeeded" })], [well], NOW)).toEqual([]);
  });
});
