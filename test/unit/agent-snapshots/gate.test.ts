// The one gate (SNAP-9, SNAP-10): each action open where it may be, and closed by each thing that closes it.
import { describe, expect, test } from "vitest";
import {
  ACTIONS,
  CONNECTED_ACTIONS,
  DEGRADED_ACTIONS,
  type Action,
} from "../../../src/core/degraded/actions.ts";
import { gate, type Gate, type Situation } from "../../../src/core/degraded/gate.ts";
import type { DegradedBody } from "../../../src/core/snapshot/contents.ts";
import { REVOCATION_KINDS } from "../../../src/core/snapshot/revocation.ts";
import { PERMISSIVE } from "../../support/snapshot-frames.ts";
import { HOUR_MS, NODE, NOW } from "../../support/trust.ts";

const CONNECTED: Situation = {
  nodeId: NODE,
  contact: true,
  headFresh: true,
  policy: null,
  offlineMs: 0,
  effective: NOW,
  assignedUntil: null,
  revoked: [],
  refusedByControlPlane: false,
  partitioned: false,
};
const policyOf = (changes: Partial<DegradedBody> = {}) => ({
  body: { ...PERMISSIVE, ...changes },
  expiresAt: NOW + HOUR_MS,
});
const DEGRADED: Situation = { ...CONNECTED, contact: false, headFresh: false, policy: policyOf() };
const codeOf = (answer: Gate): string => (answer.kind === "open" ? "open" : answer.code);
/** Bounded by the policy in every way; a restart is not. */
const BOUNDED = DEGRADED_ACTIONS.filter((action) => action !== "continue_services");
const every = Object.keys(ACTIONS) as Action[];

describe("connected", () => {
  test.each(every)("SNAP-9: %s is open while the control plane is there and its head is fresh", (action) => {
    expect(gate(action, CONNECTED)).toEqual({ kind: "open" });
  });

  test.each(every)("SNAP-10: %s is closed for a node that is revoked, by head or by answer", (action) => {
    const revoked = [{ kind: "node_identity", id: NODE }] as const;
    expect(gate(action, { ...CONNECTED, revoked })).toMatchObject({
      code: "AUTHORITY_REVOKED",
      reason: "this node is revoked (signed head)",
    });
    expect(gate(action, { ...CONNECTED, refusedByControlPlane: true })).toMatchObject({
      code: "AUTHORITY_REVOKED",
      reason: "this node is revoked (control-plane status)",
    });
  });

  test.each(REVOCATION_KINDS)(
    "SNAP-10: what is about a revoked %s is closed, and about another one open",
    (kind) => {
      const situation = { ...CONNECTED, revoked: [{ kind, id: "one" }] };
      const ask = (id: string) => codeOf(gate("use_storage_endpoints", situation, { kind, id }));
      expect([ask("one"), ask("another")]).toEqual(["AUTHORITY_REVOKED", "open"]);
    },
  );
});

describe("without the control plane", () => {
  test.each(CONNECTED_ACTIONS)("SNAP-9: %s is never done, whatever the policy allows", (action) => {
    expect(codeOf(gate(action, DEGRADED))).toBe("DEGRADED_FORBIDDEN");
    expect(codeOf(gate(action, { ...DEGRADED, headFresh: true }))).toBe("DEGRADED_FORBIDDEN");
  });

  test.each(CONNECTED_ACTIONS)(
    "SNAP-10: %s waits for a fresh head, but for what only root keys sign",
    (action) => {
      const stale = { ...CONNECTED, headFresh: false, policy: policyOf() };
      expect(codeOf(gate(action, stale))).toBe(action === "rotate_trust_roots" ? "open" : "HEAD_STALE");
    },
  );

  test.each(BOUNDED)("SNAP-9: %s goes on when the policy names it, and only then", (action) => {
    expect(gate(action, DEGRADED)).toEqual({ kind: "open" });
    const others = DEGRADED_ACTIONS.filter((name) => name !== action);
    expect(codeOf(gate(action, { ...DEGRADED, policy: policyOf({ allowed: others }) }))).toBe(
      "DEGRADED_NOT_ALLOWED",
    );
    expect(codeOf(gate(action, { ...DEGRADED, policy: null }))).toBe("DEGRADED_NOT_ALLOWED");
  });

  test.each(BOUNDED)("SNAP-9: %s ends with the policy's snapshot", (action) => {
    const policy = { body: PERMISSIVE, expiresAt: NOW };
    expect(codeOf(gate(action, { ...DEGRADED, policy }))).toBe("DEGRADED_TIME_OVER");
  });

  test.each(BOUNDED)("SNAP-9: %s ends with the time that the policy allows offline", (action) => {
    const policy = policyOf({ offline_max_ms: 1000, route_ttl_ms: 5000, session_ttl_ms: 5000 });
    const ask = (offlineMs: number) => codeOf(gate(action, { ...DEGRADED, policy, offlineMs }));
    expect([ask(1000), ask(1001), ask(Infinity)]).toEqual([
      "open",
      "DEGRADED_TIME_OVER",
      "DEGRADED_TIME_OVER",
    ]);
  });

  test.each([
    ["preserve_routes", { route_ttl_ms: 1000 }],
    ["reconnect_peers", { session_ttl_ms: 1000 }],
    ["validate_peers", { session_ttl_ms: 1000 }],
  ] as const)("SNAP-9: %s ends with its TTL, before the time offline does", (action, bound) => {
    const ask = (offlineMs: number) =>
      codeOf(gate(action, { ...DEGRADED, policy: policyOf(bound), offlineMs }));
    expect([ask(1000), ask(1001)]).toEqual(["open", "DEGRADED_TIME_OVER"]);
  });

  test.each(DEGRADED_ACTIONS)("SNAP-9: %s in a part that is cut off: as the policy says", (action) => {
    const ask = (when_partitioned: "continue" | "hold") =>
      codeOf(gate(action, { ...DEGRADED, partitioned: true, policy: policyOf({ when_partitioned }) }));
    expect([ask("continue"), ask("hold")]).toEqual(["open", "DEGRADED_NOT_ALLOWED"]);
  });

  test.each(DEGRADED_ACTIONS)("SNAP-10: %s ends when a head revoked that permission", (action) => {
    const revoked = [{ kind: "degraded_permission", id: action }] as const;
    expect(codeOf(gate(action, { ...DEGRADED, revoked }))).toBe("AUTHORITY_REVOKED");
    expect(gate(action, { ...CONNECTED, revoked })).toEqual({ kind: "open" });
  });
});

describe("starting again what last ran", () => {
  const ask = (changes: Partial<Situation>) => gate("continue_services", { ...DEGRADED, ...changes });

  test("SNAP-9: without a policy it is open, with and without an assignment", () => {
    expect(ask({ policy: null })).toEqual({ kind: "open" });
    expect(ask({ policy: null, assignedUntil: NOW + 1 })).toEqual({ kind: "open" });
    expect(ask({ policy: null, contact: true })).toEqual({ kind: "open" }); // an answer, and no fresh head
  });

  test("SNAP-9: on expired authority it is open, and says since when: the earliest of assignment, policy and time offline", () => {
    const since = (changes: Partial<Situation>) => ask(changes);
    expect(since({ policy: null, assignedUntil: NOW })).toEqual({ kind: "open", expiredSince: NOW });
    expect(since({ policy: { body: PERMISSIVE, expiresAt: NOW - 5 }, assignedUntil: NOW - 3 })).toEqual({
      kind: "open",
      expiredSince: NOW - 5,
    });
    const policy = policyOf({ offline_max_ms: 1000 });
    expect(since({ policy, offlineMs: 1007 })).toEqual({ kind: "open", expiredSince: NOW - 7 });
    expect(since({ policy, offlineMs: Infinity })).toEqual({ kind: "open", expiredSince: 0 });
  });

  test("SNAP-9: a policy that does not name it forbids it, also after its own expiry", () => {
    const body = { ...PERMISSIVE, allowed: DEGRADED_ACTIONS.filter((name) => name !== "continue_services") };
    expect(codeOf(ask({ policy: { body, expiresAt: NOW + HOUR_MS } }))).toBe("DEGRADED_NOT_ALLOWED");
    expect(codeOf(ask({ policy: { body, expiresAt: NOW - HOUR_MS } }))).toBe("DEGRADED_NOT_ALLOWED");
  });

  test("SNAP-9: restart_after_expiry never ends it with the authority, and not before", () => {
    const body = { ...PERMISSIVE, offline_max_ms: 1000, restart_after_expiry: "never" as const };
    const policy = { body, expiresAt: NOW + HOUR_MS };
    expect(ask({ policy, offlineMs: 999 })).toEqual({ kind: "open" });
    for (const over of [
      { policy, offlineMs: 1001 },
      { policy, assignedUntil: NOW - 1 },
      { policy: { body, expiresAt: NOW } },
    ])
      expect(codeOf(ask(over))).toBe("DEGRADED_TIME_OVER");
    expect(
      codeOf(
        ask({ policy: { ...policy, body: { ...body, restart_after_expiry: "allow" } }, offlineMs: 9999 }),
      ),
    ).toBe("open");
  });

  test.each([
    ["this node", { kind: "node_identity", id: NODE }],
    ["its service", { kind: "service_assignment", id: "hello" }],
  ] as const)("SNAP-10: it is closed where %s is known to be revoked, expired or not", (_, revocation) => {
    for (const assignedUntil of [null, NOW - 1]) {
      const situation = { ...DEGRADED, policy: null, assignedUntil, revoked: [revocation] };
      const answer = gate("continue_services", situation, { kind: "service_assignment", id: "hello" });
      expect(codeOf(answer)).toBe("AUTHORITY_REVOKED");
    }
  });

  test.each(every.filter((action) => action !== "continue_services"))(
    "SNAP-9: %s is no restart: without a policy, or on expired authority, it stays closed",
    (action) => {
      expect(gate(action, { ...DEGRADED, policy: null }).kind).toBe("closed");
      expect(gate(action, { ...DEGRADED, policy: { body: PERMISSIVE, expiresAt: NOW } }).kind).toBe("closed");
    },
  );
});
