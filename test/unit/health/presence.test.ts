// The state of a node itself: every transition between active, degraded and down, by its heartbeats alone.

import { describe, expect, test } from "vitest";
import { judgePresence, type PresenceFacts } from "../../../src/core/health/presence.ts";
import { nextWatch } from "../../../src/core/health/watch.ts";
import { LIMITS } from "../../../src/core/limits.ts";

const NOW = 1_000_000_000;
const LONG = 10 * 3_600_000;

const heard: PresenceFacts = {
  state: "active",
  stateSince: NOW - LONG,
  heardAt: NOW - 1_000,
  inMaintenance: false,
  wellSince: null,
};
const judge = (changes: Partial<PresenceFacts>) => judgePresence({ ...heard, ...changes }, NOW);
const silentFor = (ms: number): Partial<PresenceFacts> => ({ heardAt: NOW - ms });

describe("silence", () => {
  test.each<[string, Partial<PresenceFacts>, string, string | null]>([
    ["an active node that is heard stays active", {}, "active", null],
    ["a node is active just before it is late", silentFor(LIMITS.heartbeatLateMs - 1), "active", null],
    ["a late node is degraded", silentFor(LIMITS.heartbeatLateMs), "degraded", "HEARTBEAT_LATE"],
    [
      "a degraded node stays degraded while it is late",
      { state: "degraded", ...silentFor(LIMITS.heartbeatLateMs) },
      "degraded",
      null,
    ],
    ["a lost active node is down", silentFor(LIMITS.heartbeatLostMs), "down", "HEARTBEAT_LOST"],
    [
      "a lost degraded node is down",
      { state: "degraded", ...silentFor(LIMITS.heartbeatLostMs) },
      "down",
      "HEARTBEAT_LOST",
    ],
    ["a down node that is still lost stays down", { state: "down", ...silentFor(LONG) }, "down", null],
    [
      "a down node whose last heartbeat is late stays down",
      { state: "down", ...silentFor(LIMITS.heartbeatLateMs) },
      "down",
      null,
    ],
    ["a down node that is heard again is degraded", { state: "down" }, "degraded", "HEARTBEAT_BACK"],
  ])("ROLL-15: %s", (_, facts, state, reason) => {
    expect(judge(facts)).toMatchObject({ state, reason });
  });

  test.each(["active", "degraded", "down"] as const)(
    "ROLL-15: a node that is %s with a profile in maintenance is not judged",
    (state) => {
      for (const silence of [{}, silentFor(LONG)])
        expect(judge({ state, inMaintenance: true, wellSince: 7, ...silence })).toEqual({
          state,
          reason: null,
          wellSince: 7,
        });
    },
  );

  test("ROLL-15: silence while no control plane looked does not count", () => {
    const first = nextWatch(null, NOW);
    expect(first.hearingSince).toBe(NOW);
    const next = nextWatch(first, NOW + LIMITS.healthGapMs);
    expect(next).toEqual({ lastLookAt: NOW + LIMITS.healthGapMs, hearingSince: NOW });
    expect(nextWatch(next, NOW + LONG).hearingSince).toBe(NOW + LONG);
  });
});

describe("recovery", () => {
  const back = { state: "degraded" } as const;

  test("ROLL-15: a degraded node is active again after heartbeats without a break", () => {
    expect(judge(back)).toEqual({ state: "degraded", reason: null, wellSince: NOW });
    expect(judge({ ...back, wellSince: NOW - LIMITS.recoveryMs + 1 }).state).toBe("degraded");
    expect(judge({ ...back, wellSince: NOW - LIMITS.recoveryMs })).toMatchObject({
      state: "active",
      reason: "RECOVERED",
    });
  });

  test("ROLL-15: a late heartbeat begins the wait anew", () => {
    const late = judge({ ...back, wellSince: NOW - LONG, ...silentFor(LIMITS.heartbeatLateMs) });
    expect(late).toEqual({ state: "degraded", reason: null, wellSince: null });
  });

  test("ROLL-15: heartbeats of an earlier state do not count", () => {
    expect(judge({ ...back, wellSince: NOW - LONG, stateSince: NOW - 1_000 }).state).toBe("degraded");
  });

  test("ROLL-15: an active node remembers nothing", () => {
    expect(judge({ wellSince: NOW - LONG }).wellSince).toBeNull();
  });
});
