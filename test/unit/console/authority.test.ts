import { describe, expect, it } from "vitest";
import { lifetimeOf } from "../../../src/console/pages/authority/lifetime.ts";
import { summaryOf } from "../../../src/console/pages/authority/summary.ts";
import { troubleOf } from "../../../src/console/pages/authority/trouble.tsx";
import type { NodeAuthority, ScopeView } from "../../../src/core/protocol/snapshot-api.ts";
import { AT } from "./samples.ts";

const at = (ms: number) => new Date(Date.parse(AT) + ms).toISOString();
const span = { issued_at: at(0), refresh_after: at(50_000), expires_at: at(100_000) };
const after = (ms: number) => lifetimeOf(span, Date.parse(AT) + ms);

describe("the bar of a snapshot's time", () => {
  it("shrinks from issue to expiry, and its words say the same", () => {
    expect(after(0)).toEqual({ spent: 0, refresh: 0.5, tone: "good", text: "1 min 40 s left" });
    expect(after(60_000)).toMatchObject({ spent: 0.6, tone: "warn", text: "40 s left, renewal is due" });
    expect(after(100_000)).toMatchObject({ spent: 1, tone: "bad", text: "expired" });
  });

  it("stays within its ends when clocks differ", () => {
    expect(after(-5_000).spent).toBe(0);
    expect(lifetimeOf({ ...span, expires_at: span.issued_at }, Date.parse(AT) - 1).spent).toBe(1);
  });
});

const rejection = {
  code: "SNAPSHOT_ROLLBACK",
  reason: "version 2 ≤ 3",
  at: AT,
  step: 9,
  check: "its version is newer",
  field: "config_version",
  version: { epoch: 1, version: 2 },
  remedy: "look",
};
const view = (over: Partial<ScopeView>): ScopeView => ({
  scope: "route_policy",
  state: "in_force",
  published: null,
  applied: null,
  applied_expires_at: null,
  rejection: null,
  refusal: null,
  ...over,
});

describe("what is wrong with a snapshot", () => {
  it("is the failed check with its field and remedy, and is past once something was applied", () => {
    expect(troubleOf(view({ state: "rejected", rejection }))).toMatchObject({
      title: "Version 2 is rejected: check 9 of 12 failed, “its version is newer”.",
      field: "config_version",
      remedy: "look",
      now: true,
    });
    const past = troubleOf(view({ rejection }))!;
    expect([past.title.includes("was rejected"), past.now]).toEqual([true, false]);
    expect(troubleOf(view({}))).toBeNull();
  });

  it("names the compiler's field once", () => {
    const refusal = { code: "SNAPSHOT_SECRET_FOUND", field: "content.x", at: AT, remedy: null };
    expect(troubleOf(view({ refusal: { ...refusal, reason: "content.x: a key" } }))!.field).toBeNull();
    expect(troubleOf(view({ refusal: { ...refusal, reason: "a key" } }))!.field).toBe("content.x");
  });
});

it("nodes that want a look come first, the worst before the others", () => {
  const node = (node_name: string, ...states: ScopeView["state"][]): NodeAuthority => ({
    node_id: AT as never,
    node_name,
    last_heartbeat_at: null,
    counts: {} as never,
    attention: states.map((state) => ({ scope: "route_policy", state, code: null, expires_at: null })),
  });
  const { attention, calm } = summaryOf([
    node("a"),
    node("c", "behind"),
    node("b", "behind"),
    node("d", "rejected"),
  ]);
  expect(attention.map(({ node_name }) => node_name)).toEqual(["d", "b", "c"]);
  expect(calm.map(({ node_name }) => node_name)).toEqual(["a"]);
});
