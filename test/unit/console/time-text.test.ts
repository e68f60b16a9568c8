import { describe, expect, it } from "vitest";
import { ageText, durationText, untilText } from "../../../src/console/ui/time-text.ts";

const now = Date.parse("2026-01-31T12:00:00.000Z");
const before = (ms: number) => new Date(now - ms).toISOString();

describe("times as people say them", () => {
  it.each([
    [0, "just now"],
    [42_000, "42 s ago"],
    [61_000, "1 min ago"],
    [7_200_000, "2 h ago"],
    [3 * 86_400_000, "3 d ago"],
  ])("an age of %i ms reads %s", (ms, text) => {
    expect(ageText(before(ms), now)).toBe(text);
  });

  it("a server whose clock runs ahead never shows a negative age", () => {
    expect(ageText(before(-5_000), now)).toBe("just now");
  });

  it("what never happened has no age", () => {
    expect(ageText(null, now)).toBe("never");
  });

  it.each([
    [900, "0 s"],
    [42_000, "42 s"],
    [200_000, "3 min 20 s"],
    [180_000, "3 min"],
    [7_500_000, "2 h 5 min"],
    [90_000_000, "1 d 1 h"],
  ])("a duration of %i ms reads %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it("a countdown rounds up, so that it ends when the time has come", () => {
    expect(untilText(before(-1_200), now)).toBe("2 s");
    expect(untilText(before(0), now)).toBeNull();
  });
});
