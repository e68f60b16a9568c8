// A reboot after the trust bundle has expired: what was revoked or forbidden before its end stays so (SNAP-9, SNAP-10).
import { expect, test } from "vitest";
import type { DegradedBody } from "../../../src/core/snapshot/contents.ts";
import { bootstrapFrame, headFrame, PERMISSIVE, policyFrame } from "../../support/snapshot-frames.ts";
import { assignmentFrame, at, HOUR_MS, NODE, NOW, PROFILE } from "../../support/trust.ts";
import { openTrustingDoor, type Answer, type Door } from "./door.ts";

const BUNDLE_END = NOW + 1000 * HOUR_MS;
const AFTER_BUNDLE_END = NOW + 400 * 24 * HOUR_MS;

/** The gate for a start of the program after a reboot at that time, out of contact. */
async function rebootAt(now: number, answer: (keys: Door["keys"]) => Answer) {
  const door = await openTrustingDoor();
  expect(await door.poll(answer(door.keys))).toBeNull();
  door.world.now = now;
  await door.restart();
  return door.keeper().ask("continue_services", { kind: "service_assignment", id: PROFILE });
}

const underPolicy = (body: DegradedBody) => (keys: Door["keys"]) => ({
  snapshots: [bootstrapFrame(keys, 1, ["egress_service"]), policyFrame(keys, 1, body), assignmentFrame(keys)],
});

const REBOOTS = [
  ["before", NOW + 72 * HOUR_MS],
  ["after", AFTER_BUNDLE_END],
] as const;

test.each(REBOOTS)(
  "SNAP-9: rebooted %s the end of the trust bundle, a policy that forbids restarts on expired authority closes the gate",
  async (_, now) => {
    const policy = underPolicy({ ...PERMISSIVE, restart_after_expiry: "never" });
    expect(await rebootAt(now, policy)).toMatchObject({ kind: "closed", code: "DEGRADED_TIME_OVER" });
  },
);

test.each(REBOOTS)(
  "SNAP-9: rebooted %s the end of the trust bundle, a policy that does not name continue_services closes the gate",
  async (_, now) => {
    const policy = underPolicy({ ...PERMISSIVE, allowed: ["report_status"] });
    expect(await rebootAt(now, policy)).toMatchObject({ kind: "closed", code: "DEGRADED_NOT_ALLOWED" });
  },
);

test.each(
  REBOOTS.flatMap(([when, now]) => [
    [when, "node_identity", NODE, now] as const,
    [when, "service_assignment", PROFILE, now] as const,
  ]),
)(
  "SNAP-10: rebooted %s the end of the trust bundle, a %s that the held head revokes stays revoked",
  async (_, kind, id, now) => {
    const head = (keys: Door["keys"]) => ({
      head: headFrame(keys, { issuedAt: NOW + 1, revoked: [{ kind, id }] }),
    });
    expect(await rebootAt(now, head)).toMatchObject({ kind: "closed", code: "AUTHORITY_REVOKED" });
  },
);

test("SNAP-9: rebooted after the end of the trust bundle under a permissive policy, a start names when the authority expired", async () => {
  expect(await rebootAt(AFTER_BUNDLE_END, underPolicy(PERMISSIVE))).toEqual({
    kind: "open",
    expiredSince: NOW + PERMISSIVE.offline_max_ms,
  });
});

test("SNAP-9: rebooted after the end of the trust bundle without a policy, a start names when the assignment expired", async () => {
  const gate = await rebootAt(AFTER_BUNDLE_END, (keys) => ({ snapshots: [assignmentFrame(keys)] }));
  expect(gate).toEqual({ kind: "open", expiredSince: NOW + 24 * HOUR_MS });
});

test("SNAP-9: an assignment that outlives its trust bundle is expired authority from the end of the bundle", async () => {
  const header = { expires_at: at(BUNDLE_END + 24 * HOUR_MS) };
  const outliving = (keys: Door["keys"]) => ({ snapshots: [assignmentFrame(keys, { header })] });
  expect(await rebootAt(BUNDLE_END - 1, outliving)).toEqual({ kind: "open" });
  expect(await rebootAt(BUNDLE_END + HOUR_MS, outliving)).toEqual({ kind: "open", expiredSince: BUNDLE_END });
});
