import { describe, expect, it } from "vitest";
import { extendTimeline } from "../../../src/console/pages/rollout/timeline.ts";
import { event, nodeIdOf, upgradeEvent } from "./samples.ts";

describe("the timeline", () => {
  it("has the newest first and says who and why", () => {
    const timeline = extendTimeline(
      [],
      [
        event(1, "rollout.created", {}, { actor: "mara" }),
        event(2, "rollout.signal", { signal: "pause", actor: "ole", reason: "lunch", applied: true }),
      ],
    );
    expect(timeline).toMatchObject([
      { id: 2, title: "Pause requested", who: "ole", why: "lunch" },
      { id: 1, title: "Created", who: "mara", why: null },
    ]);
  });

  it("says of a request that came too late that it was not applied", () => {
    const late = event(1, "rollout.signal", { signal: "start", actor: "ole", reason: null, applied: false });
    expect(extendTimeline([], [late])[0]).toMatchObject({
      tone: "warn",
      title: "Start requested too late: not applied",
    });
  });

  it("leaves the phases of a node to its cell", () => {
    expect(extendTimeline([], [upgradeEvent(1, 1, { phase: "STOPPED" })])).toEqual([]);
  });

  it("makes one entry of successes in a row, also when they come in two lots", () => {
    const first = extendTimeline(
      [],
      [1, 2].map((node) => upgradeEvent(node, node, { status: "succeeded" })),
    );
    const both = extendTimeline(first, [upgradeEvent(3, 3, { status: "succeeded" })]);
    expect(both).toMatchObject([{ id: 1, nodeIds: [1, 2, 3].map(nodeIdOf) }]);
  });

  it("never merges a failure into them", () => {
    const timeline = extendTimeline(
      [],
      [
        upgradeEvent(1, 1, { status: "succeeded" }),
        upgradeEvent(2, 2, { status: "failed", error: { code: "DISK_FULL", text: "no space" } }),
        upgradeEvent(3, 3, { status: "succeeded" }),
      ],
    );
    expect(timeline.map((entry) => entry.why)).toEqual([null, "DISK_FULL: no space", null]);
  });

  it("has a bound", () => {
    const events = Array.from({ length: 400 }, (_, index) =>
      event(index + 1, "rollout.batch", { batch: index, direction: "forward" }),
    );
    const timeline = extendTimeline([], events);
    expect(timeline).toHaveLength(300);
    expect(timeline[0]?.id).toBe(400);
  });
});
