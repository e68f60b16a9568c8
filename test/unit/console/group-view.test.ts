import { describe, expect, it } from "vitest";
import { gateOf } from "../../../src/console/pages/group/gate-state.ts";
import { groupControlsFor, groupQuestion } from "../../../src/console/pages/group/group-controls.ts";
import { groupWhy } from "../../../src/console/pages/group/group-why.ts";
import { GROUP_SIGNALS, type GroupStatus } from "../../../src/core/group/states.ts";
import type { GroupView } from "../../../src/core/protocol/group-api.ts";
import { AT, rollout } from "./samples.ts";

const component = (index: number, over = {}) => ({
  component_index: index,
  binary_name: `part-${index}`,
  rollout: rollout({ status: "pending", ...over }),
});

const group = (over: Partial<GroupView> = {}): GroupView => ({
  id: "dddddddd-0000-4000-8000-000000000001" as GroupView["id"],
  chain_profile_id: "harbor" as GroupView["chain_profile_id"],
  status: "running",
  failure_policy: "manual",
  strategy: "rolling",
  desired_versions: {},
  current_component: 0,
  health_wait_seconds: 60,
  gate_until: null,
  pause_requested: false,
  cancel_requested: false,
  why: null,
  components: [component(0), component(1)],
  created_by: "mara",
  created_at: AT,
  started_at: null,
  ended_at: null,
  ...over,
});

const enabled = (status: GroupStatus, over: Partial<GroupView> = {}) =>
  groupControlsFor(group({ status, ...over }))
    .filter((control) => control.isEnabled)
    .map((control) => control.signal);

describe("the controls of a group (ROLL-11)", () => {
  it.each([
    ["pending", ["start", "cancel"]],
    ["running", ["pause", "rollback", "cancel"]],
    ["paused", ["resume", "rollback", "cancel"]],
    ["rolling_back", []],
    ["completed", ["rollback"]],
    ["partial", ["rollback"]],
    ["rolled_back", ["rollback"]],
  ] as const)("ROLL-11: offer for a %s group exactly %j", (status, signals) => {
    expect(enabled(status)).toEqual(signals);
  });

  it("ROLL-13: offer to skip only a component that failed", () => {
    expect(enabled("paused", { why: { code: "COMPONENT_FAILED", text: "t" } })).toContain("skip");
  });

  it("have a place for every signal, and ask for the profile's name before a way back", () => {
    expect(
      groupControlsFor(group())
        .map(({ signal }) => signal)
        .toSorted(),
    ).toEqual(GROUP_SIGNALS.toSorted());
    expect(groupQuestion("rollback", group()).typed).toBe("harbor");
  });
});

describe("the gate between two components", () => {
  const now = Date.parse(AT) - 12_000;
  it.each([
    [{}, "Then health is watched for 1 min"],
    [{ gate_until: AT }, "Health is watched for another 12 s of 1 min"],
    [{ gate_until: AT, health_wait_seconds: 5 }, "Health is watched for another 5 s of 5 s"],
    [{ gate_until: "2026-01-31T11:00:00.000Z" }, "Health is being judged"],
    [{ components: [component(0), component(1, { started_at: AT })] }, "Healthy: the next one began"],
    [{ components: [component(0), component(1, { status: "cancelled" })] }, "The next one never began"],
  ])("says where it stands %#", (over, text) => {
    expect(gateOf(group(over), 0, now).text).toBe(text);
  });

  it("is told behind the component that it follows, and nowhere else", () => {
    const three = { components: [component(0), component(1), component(2)], gate_until: AT };
    expect(gateOf(group(three), 1, now).text).toBe("Then health is watched for 1 min");
  });
});

describe("the line under a group's title", () => {
  it("is never empty, and says what to do when the code has a remedy", () => {
    for (const status of ["pending", "running", "completed", "partial"] as const)
      expect(groupWhy(group({ status }), 0).text).not.toBe("");
    const why = { code: "WATCHING_COMPONENT", text: "until an instant" };
    expect(groupWhy(group({ why, gate_until: AT }), Date.parse(AT) - 12_000).text).toBe(
      "part-0 is upgraded; it is watched for another 12 s",
    );
    expect(groupWhy(group({ why: { code: "INTENT_EXPIRED", text: "t" } }), 0).next).toMatch(
      /sign a new intent/,
    );
  });
});
