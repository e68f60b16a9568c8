import { describe, expect, test } from "vitest";
import { snapshotState, wantsAttention, type ScopeFacts } from "../../../src/core/model/snapshot-state.ts";

const at = (version: number, epoch = 1) => ({ epoch, version });
const published = (version: number, epoch = 1) => ({
  ...at(version, epoch),
  issuedAt: 0,
  refreshAfter: 50,
  expiresAt: 100,
});
const facts = (over: Partial<ScopeFacts> = {}): ScopeFacts => ({
  published: published(2),
  applied: at(2),
  appliedExpiresAt: null,
  rejection: null,
  refused: false,
  ...over,
});

describe("how a node stands in one scope (SNAP-13)", () => {
  test.each<[string, Partial<ScopeFacts>, number, string]>([
    ["what is published is applied", {}, 10, "in_force"],
    ["renewal is due", {}, 50, "expiring"],
    ["its time is over", {}, 100, "expired"],
    ["it never applied one", { applied: null }, 10, "never"],
    ["nothing was published and none applied", { applied: null, published: null }, 10, "never"],
    ["a newer one waits", { applied: at(1) }, 10, "behind"],
    ["a newer epoch waits", { published: published(1, 2), applied: at(9) }, 10, "behind"],
    ["it is ahead of a restored server", { applied: at(9) }, 10, "behind"],
    ["a newer one waits, and its own has expired", { applied: at(1), appliedExpiresAt: 5 }, 10, "expired"],
    [
      "it rejected what is published",
      { applied: at(1), rejection: { version: at(2), at: 5 } },
      10,
      "rejected",
    ],
    ["it rejected it and has none", { applied: null, rejection: { version: at(2), at: 5 } }, 10, "rejected"],
    ["it rejected an earlier one", { applied: at(1), rejection: { version: at(1), at: 5 } }, 10, "behind"],
    ["it rejected it once and took it later", { rejection: { version: at(2), at: 5 } }, 10, "in_force"],
    [
      "a rejection without a version is newer",
      { applied: at(1), rejection: { version: null, at: 5 } },
      10,
      "rejected",
    ],
    [
      "a rejection without a version is older",
      { applied: at(1), rejection: { version: null, at: -5 } },
      10,
      "behind",
    ],
    ["the compiler refused", { refused: true }, 10, "refused_by_compiler"],
  ])("SNAP-13: %s", (_what, over, now, state) => {
    expect(snapshotState(facts(over), now)).toBe(state);
  });

  test("SNAP-13: waiting for a first one is no trouble; everything but in force is", () => {
    expect((["in_force", "never"] as const).map(wantsAttention)).toEqual([false, false]);
    expect(
      (["behind", "expiring", "expired", "rejected", "refused_by_compiler"] as const).every(wantsAttention),
    ).toBe(true);
  });
});
