import { describe, expect, it } from "vitest";
import { controlsFor } from "../../../src/console/pages/rollout/controls.ts";
import type { RolloutStatus } from "../../../src/core/rollout/states.ts";

const enabled = (status: RolloutStatus, asked: { pause?: boolean; cancel?: boolean } = {}) =>
  controlsFor({ status, pause_requested: asked.pause ?? false, cancel_requested: asked.cancel ?? false })
    .filter((control) => control.isEnabled)
    .map((control) => control.signal);

describe("the controls of a rollout", () => {
  it.each([
    ["pending", ["start", "cancel"]],
    ["running", ["pause", "cancel"]],
    ["paused", ["resume", "cancel"]],
    ["rolling_back", []],
    ["completed", []],
    ["failed", []],
    ["cancelled", []],
    ["rolled_back", []],
  ] as const)("offer for a %s rollout exactly %j", (status, signals) => {
    expect(enabled(status)).toEqual(signals);
  });

  it("keep their places in every state", () => {
    expect(
      controlsFor({ status: "completed", pause_requested: false, cancel_requested: false }),
    ).toHaveLength(4);
  });

  it("do not offer a pause or a cancel that was asked for already", () => {
    expect(enabled("running", { pause: true })).toEqual(["cancel"]);
    expect(enabled("running", { cancel: true })).toEqual([]);
  });
});
