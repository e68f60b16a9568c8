// The state of one program outside upgrades: every transition between active and degraded, and the rules that prevent one.

import { describe, expect, test } from "vitest";
import {
  judgeProgram,
  NO_MEMORY,
  stateAfterMaintenance,
  type ProgramFacts,
} from "../../../src/core/health/evaluate.ts";
import { LIMITS } from "../../../src/core/limits.ts";

const NOW = 1_000_000_000;
const LONG = 10 * 3_600_000;

const well: ProgramFacts = {
  state: "active",
  stateSince: NOW - LONG,
  heardAt: NOW - 1_000,
  program: "well",
  restarts: 0,
  hasCriticalIncident: false,
  memory: NO_MEMORY,
};
const evaluate = (changes: Partial<ProgramFacts>, now = NOW) => judgeProgram({ ...well, ...changes }, now);
const silentFor = (ms: number): Partial<ProgramFacts> => ({ heardAt: NOW - ms });
const wellSince = (ms: number) => ({ memory: { ...NO_MEMORY, wellSince: NOW - ms } });
const illSince = (ms: number) => ({ memory: { ...NO_MEMORY, illSince: NOW - ms } });

describe("silence", () => {
  test.each(["active", "degraded"] as const)(
    "ROLL-28: a program that is %s keeps its state while its node is late, and its recovery begins anew",
    (state) => {
      const stale = {
        state,
        ...silentFor(LIMITS.heartbeatLateMs),
        program: "critical",
        restarts: 99,
      } as const;
      const memory = { ...NO_MEMORY, wellSince: NOW - LONG, illSince: NOW - LONG };
      expect(evaluate({ ...stale, memory })).toEqual({
        state,
        reason: null,
        memory: { ...memory, wellSince: null },
      });
      expect(evaluate({ ...stale, ...silentFor(LIMITS.heartbeatLateMs - 1), memory }).state).not.toBe(
        "active",
      );
    },
  );
});

describe("programs", () => {
  test.each(["critical", "stalled"] as const)(
    "ROLL-15: a %s program is degraded, but not at once",
    (program) => {
      const first = evaluate({ program });
      expect(first).toMatchObject({ state: "active", reason: null, memory: { illSince: NOW } });
      expect(evaluate({ program, ...illSince(LIMITS.programIllMs - 1) }).state).toBe("active");
      expect(evaluate({ program, ...illSince(LIMITS.programIllMs) })).toMatchObject({
        state: "degraded",
        reason: program === "critical" ? "PROGRAM_CRITICAL" : "PROGRAM_STALLED",
      });
    },
  );

  test("ROLL-15: a program that is well in between is forgiven", () => {
    expect(evaluate(illSince(LIMITS.programIllMs - 1)).memory.illSince).toBeNull();
  });

  test("ROLL-15: what a program was before an upgrade does not count after it", () => {
    const facts = { program: "critical", stateSince: NOW - 1_000, ...illSince(LONG) } as const;
    expect(evaluate(facts).state).toBe("active");
  });
});

describe("recovery", () => {
  test("ROLL-15: a degraded program is active again when it has been well for a while without a break", () => {
    const first = evaluate({ state: "degraded" });
    expect(first).toMatchObject({ state: "degraded", reason: null, memory: { wellSince: NOW } });
    expect(evaluate({ state: "degraded", ...wellSince(LIMITS.recoveryMs - 1) }).state).toBe("degraded");
    expect(evaluate({ state: "degraded", ...wellSince(LIMITS.recoveryMs) })).toMatchObject({
      state: "active",
      reason: "RECOVERED",
      memory: { wellSince: LIMITS.recoveryMs > 0 ? NOW - LIMITS.recoveryMs : NOW },
    });
  });

  test.each<[string, Partial<ProgramFacts>]>([
    ["a critical program", { program: "critical" }],
    ["a late heartbeat", silentFor(LIMITS.heartbeatLateMs)],
    ["a crash loop", { restarts: LIMITS.crashLoopRestarts }],
  ])("ROLL-15: %s begins the wait anew", (_, facts) => {
    const result = evaluate({ state: "degraded", ...wellSince(LIMITS.recoveryMs), ...facts });
    expect(result).toMatchObject({ state: "degraded", memory: { wellSince: null } });
  });

  test("ROLL-15: a program that was degraded a moment ago waits, whatever it was before", () => {
    const facts = { state: "degraded", stateSince: NOW - 1_000, ...wellSince(LONG) } as const;
    expect(evaluate(facts).state).toBe("degraded");
  });

  test("ROLL-16: a program with an unresolved critical incident stays degraded, however well it looks", () => {
    const facts = { state: "degraded", ...wellSince(LONG), hasCriticalIncident: true } as const;
    expect(evaluate(facts)).toMatchObject({ state: "degraded", reason: null });
    expect(evaluate({ ...facts, hasCriticalIncident: false }).state).toBe("active");
  });
});

describe("failure", () => {
  const critical = { state: "degraded", program: "critical" } as const;

  test("ROLL-15: a degraded program whose probe is refused for ten minutes without a break is failed", () => {
    expect(evaluate({ ...critical, ...illSince(LIMITS.programFailedMs - 1) }).state).toBe("degraded");
    expect(evaluate({ ...critical, ...illSince(LIMITS.programFailedMs) })).toMatchObject({
      state: "failed",
      reason: "PROGRAM_FAILED",
    });
  });

  test("ROLL-15: one that is stalled, well in between or degraded since a moment ago is not", () => {
    const long = illSince(LIMITS.programFailedMs);
    expect(evaluate({ state: "degraded", program: "stalled", ...long }).state).toBe("degraded");
    expect(evaluate({ state: "degraded", ...long }).state).toBe("degraded");
    expect(evaluate({ ...critical, ...long, stateSince: NOW - 1_000 }).state).toBe("degraded");
  });

  test("ROLL-15: a failed program stays so while it is ill, and is active again when it has been well for a while", () => {
    expect(evaluate({ ...critical, state: "failed", ...illSince(LONG) })).toMatchObject({
      state: "failed",
      reason: null,
    });
    expect(evaluate({ state: "failed", ...wellSince(LIMITS.recoveryMs) })).toMatchObject({
      state: "active",
      reason: "RECOVERED",
    });
  });
});

describe("crash loops outside upgrades", () => {
  test("ROLL-15: restarts within the window degrade the program at once", () => {
    expect(evaluate({ restarts: LIMITS.crashLoopRestarts - 1 }).state).toBe("active");
    expect(evaluate({ restarts: LIMITS.crashLoopRestarts })).toMatchObject({
      state: "degraded",
      reason: "CRASH_LOOP",
    });
  });

  test("ROLL-15: the same number over a long time does not", () => {
    let memory = NO_MEMORY;
    for (let restarts = 1; restarts <= 10; restarts++) {
      const at = NOW + restarts * LIMITS.crashLoopWindowMs;
      const result = evaluate({ restarts, heardAt: at, memory }, at);
      expect(result.state).toBe("active");
      memory = result.memory;
    }
  });

  test("ROLL-15: the window begins with the first restart after a quiet time", () => {
    const quiet = { ...NO_MEMORY, seenRestarts: 7, baseRestarts: 5, baseAt: NOW - LONG };
    const one = evaluate({ restarts: 8, memory: quiet });
    expect(one).toMatchObject({ state: "active", memory: { seenRestarts: 8, baseRestarts: 7, baseAt: NOW } });
    expect(evaluate({ restarts: 10, memory: one.memory })).toMatchObject({ reason: "CRASH_LOOP" });
  });

  test("ROLL-15: a program that was started anew counts from zero", () => {
    const before = { ...NO_MEMORY, seenRestarts: 50, baseRestarts: 48, baseAt: NOW - 1_000 };
    const result = evaluate({ restarts: 1, memory: before });
    expect(result).toMatchObject({ state: "active", memory: { seenRestarts: 1, baseRestarts: 0 } });
  });
});

describe("maintenance", () => {
  const worst: Partial<ProgramFacts> = { ...silentFor(LONG), program: "critical", restarts: 99 };

  test("ROLL-15: a program that is in maintenance is not judged", () => {
    const state = "maintenance";
    expect(evaluate({ state, ...worst })).toEqual({ state, reason: null, memory: NO_MEMORY });
    expect(evaluate({ state })).toEqual({ state, reason: null, memory: NO_MEMORY });
  });

  test.each<[string, Partial<ProgramFacts>, "active" | "degraded"]>([
    ["well", {}, "active"],
    ["silent", silentFor(LIMITS.heartbeatLateMs), "degraded"],
    ["ill", { program: "critical" }, "degraded"],
    ["in a crash loop", { restarts: LIMITS.crashLoopRestarts }, "degraded"],
    ["waiting for a person", { hasCriticalIncident: true }, "degraded"],
  ])("ROLL-15: a stuck program that is %s is freed", (_, facts, state) => {
    expect(stateAfterMaintenance({ ...well, state: "maintenance", ...facts }, NOW)).toBe(state);
  });
});
