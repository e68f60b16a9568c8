import { expect, test } from "vitest";
import {
  claimedProgram,
  claimOf,
  contactOf,
  judgedText,
  worstHealth,
  worstSync,
  type Heard,
} from "../../../src/core/health/claim.ts";
import { ProfileId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { NODE_STATES, type ProgramReport } from "../../../src/core/protocol/agent-api.ts";
import { ProgramView } from "../../../src/core/protocol/operator-api.ts";

const NOW = 1_800_000_000_000;
const heard = (ageMs: number, over: Partial<Heard> = {}): Heard => ({
  state: "active",
  isEnrolled: true,
  isRevoked: false,
  heardAt: NOW - ageMs,
  ...over,
});
const report: ProgramReport = {
  chain_profile_id: ProfileId.parse("web"),
  application_health: "ok",
  sync_status: "synced",
  running_fingerprint: null,
  installed_fingerprint: null,
  version: null,
  instance_id: null,
  started_at: null,
  restarts: 0,
};

test("ROLL-30: a node is late from 90 s and lost from 180 s after its last heartbeat, not a millisecond before", () => {
  const contactAt = (ageMs: number) => contactOf(heard(ageMs), NOW);
  expect([LIMITS.heartbeatLateMs, LIMITS.heartbeatLostMs]).toEqual([90_000, 180_000]);
  expect([0, 89_999, 90_000, 179_999, 180_000].map(contactAt)).toEqual([
    "current",
    "current",
    "late",
    "late",
    "lost",
  ]);
  expect(contactOf(heard(0, { heardAt: null }), NOW)).toBe("never");
});

test("ROLL-30: a node that is down, revoked or not enrolled is lost however fresh its last heartbeat is", () => {
  expect(contactOf(heard(0, { state: "down" }), NOW)).toBe("lost");
  expect(contactOf(heard(0, { isRevoked: true }), NOW)).toBe("lost");
  expect(contactOf(heard(0, { isEnrolled: false }), NOW)).toBe("lost");
  for (const state of NODE_STATES.filter((each) => each !== "down"))
    expect(contactOf(heard(0, { state }), NOW)).toBe("current");
});

test("ROLL-30: health and sync are claimed only of a node with current contact; else they are unknown", () => {
  expect(claimOf(report, "current")).toEqual({ application_health: "ok", sync_status: "synced" });
  for (const contact of ["late", "lost", "never"] as const)
    expect(claimOf(report, contact)).toEqual({ application_health: "unknown", sync_status: "unknown" });
});

test("ROLL-30: beside an unknown health stands the last report and its time, in the shape of the API", () => {
  const view = claimedProgram(report, "lost", "2026-01-01T00:00:00.000Z");
  expect(ProgramView.parse(view)).toMatchObject({
    application_health: "unknown",
    as_of: "2026-01-01T00:00:00.000Z",
    last_reported: { application_health: "ok", sync_status: "synced" },
  });
});

test("ROLL-30: the judged state of a program is of the past once its node is not heard from", () => {
  expect(judgedText("active", "current")).toBe("active");
  expect(judgedText("active", "lost")).toBe("active when last heard from");
  expect(judgedText("active", "late")).toBe("active when last heard from");
  expect(judgedText("active", "never")).toBe("not heard from yet");
});

test("the worst program speaks for its node, and a node without one is unknown", () => {
  expect(worstHealth(["ok", "critical", "degraded"])).toBe("critical");
  expect(worstHealth(["ok", "unknown", "critical"])).toBe("unknown");
  expect(worstSync(["synced", "stalled", "syncing"])).toBe("stalled");
  expect([worstHealth([]), worstSync([])]).toEqual(["unknown", "unknown"]);
});
