// Silence of a node at work (ROLL-30): shown after 30 s, over after `node_silence_max`, counted from what could be heard.
import { describe, expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import { silenceOf, type Listened } from "../../../src/core/rollout/silence.ts";
import { T0 } from "../../support/rollouts/scenes.ts";

const MAX_MS = 5 * 60_000;
const SECOND = 1_000;
const MINUTE = 60_000;

const at = (
  node: Partial<Listened>,
  now: number,
  more: { availableSince?: number; silenceMaxMs?: number } = {},
) =>
  silenceOf(
    { heardAt: T0, launchedAt: T0, phase: "PREPARING", ...node },
    { now, availableSince: 0, silenceMaxMs: MAX_MS, ...more },
  );

describe("a node at work", () => {
  test("ROLL-30: is silent after 30 seconds without a heartbeat, not before, and over after five minutes", () => {
    expect(LIMITS.nodeSilentMs).toBe(30 * SECOND);
    expect(LIMITS.nodeSilenceMaxDefaultMs).toBe(5 * MINUTE);
    expect(at({}, T0 + 30 * SECOND - 1)).toEqual({ kind: "heard" });
    expect(at({}, T0 + 30 * SECOND)).toEqual({ kind: "silent", since: T0, isOver: false });
    expect(at({}, T0 + MAX_MS - 1)).toMatchObject({ isOver: false });
    expect(at({}, T0 + MAX_MS)).toEqual({ kind: "silent", since: T0, isOver: true });
  });

  test("ROLL-30: is heard with each heartbeat, and silence counts from the last one", () => {
    expect(at({ heardAt: T0 + MAX_MS - 1 }, T0 + MAX_MS)).toEqual({ kind: "heard" });
    expect(at({ heardAt: T0 + MINUTE }, T0 + MAX_MS)).toMatchObject({ since: T0 + MINUTE, isOver: false });
  });

  test("ROLL-30: is not silent at its launch because its last heartbeat is 29 seconds old", () => {
    expect(at({ heardAt: T0 - 29 * SECOND }, T0 + 2 * SECOND)).toEqual({ kind: "heard" });
  });

  test("ROLL-30: that was silent for an hour before its launch is over 30 seconds after it", () => {
    const offline = { heardAt: T0 - 60 * MINUTE };
    expect(at(offline, T0 + 30 * SECOND - 1)).toEqual({ kind: "heard" });
    expect(at(offline, T0 + 30 * SECOND)).toMatchObject({ kind: "silent", isOver: true });
  });

  test("ROLL-30: that was never heard of is silent since its launch", () => {
    expect(at({ heardAt: null }, T0 + MAX_MS)).toEqual({ kind: "silent", since: T0, isOver: true });
  });

  test("ROLL-30: is not silent for the time in which the control plane was away, and gets a minute to reconnect", () => {
    const availableSince = T0 + 60 * MINUTE;
    expect(at({}, availableSince + 29 * SECOND, { availableSince })).toEqual({ kind: "heard" });
    expect(at({}, availableSince + MAX_MS - 1, { availableSince })).toMatchObject({ isOver: false });
    expect(at({}, availableSince + MAX_MS, { availableSince })).toMatchObject({ isOver: true });
    const short = { availableSince, silenceMaxMs: 2 * SECOND };
    expect(at({}, availableSince + 59 * SECOND, short)).toMatchObject({ kind: "silent", isOver: false });
    expect(at({}, availableSince + 60 * SECOND, short)).toMatchObject({ isOver: true });
  });

  test("ROLL-30: with a bound below 30 seconds is shown when it is over, not later", () => {
    expect(at({}, T0 + 2 * SECOND, { silenceMaxMs: 2 * SECOND })).toMatchObject({ isOver: true });
  });

  test("ROLL-30: that is installed beats every 30 seconds, and is silent after three of them are missing", () => {
    expect(LIMITS.heartbeatLateMs).toBe(3 * LIMITS.heartbeatIntervalMs);
    for (const silenceMaxMs of [2 * SECOND, MAX_MS]) {
      const installed = (now: number) => at({ phase: "VERIFYING" }, now, { silenceMaxMs });
      expect(installed(T0 + 90 * SECOND - 1)).toEqual({ kind: "heard" });
      expect(installed(T0 + 90 * SECOND)).toEqual({ kind: "silent", since: T0, isOver: false });
    }
  });

  test("ROLL-30: that is installed is shown as silent, and left to its health wait", () => {
    expect(at({ phase: "VERIFYING" }, T0 + 60 * MINUTE)).toMatchObject({ kind: "silent", isOver: false });
  });
});
