import { expect, test } from "vitest";
import { ERROR_CODES } from "../../../src/core/error-codes.ts";
import type { NodeId, ProfileId } from "../../../src/core/ids.ts";
import {
  certificateEnding,
  crashLoop,
  keyEnding,
  nodeCertificateEnding,
  nodeDown,
  REJECTION_CODES,
  snapshotRejected,
} from "../../../src/core/incident/troubles.ts";
import { LIMITS } from "../../../src/core/limits.ts";

const NODE = { nodeId: "n1" as NodeId, name: "edge-1" };
const NOW = Date.parse("2026-03-01T00:00:00.000Z");
const rejection = (code: string) => ({
  code,
  subject: "snapshot route_policy",
  reason: "because",
  at: "2026-03-01T00:00:00.000Z",
});

test("ROLL-19: every incident outside upgrades says what happened and what to do", () => {
  const all = [
    nodeDown(NODE, NOW),
    nodeDown(NODE, null),
    crashLoop(NODE, "web" as ProfileId, 3),
    snapshotRejected(NODE, rejection("SNAPSHOT_ROLLBACK")),
    nodeCertificateEnding(NODE, NOW + 1, NOW),
    nodeCertificateEnding(NODE, NOW, NOW),
    certificateEnding("the certificate x", NOW + 1, NOW),
    keyEnding("the trust bundle", NOW + 1, NOW),
  ];
  expect(all.map(({ title }) => title)).toEqual([
    "edge-1 is down: no heartbeat since 2026-03-01T00:00:00Z",
    "edge-1 is down: never heard from",
    "edge-1: web restarted 3 times within 10 min",
    "edge-1 refuses snapshot route_policy: SNAPSHOT_ROLLBACK",
    "the certificate of edge-1 ends 2026-03-01T00:00:00Z",
    "the certificate of edge-1 ended 2026-03-01T00:00:00Z",
    "the certificate x ends 2026-03-01T00:00:00Z",
    "the trust bundle ends 2026-03-01T00:00:00Z",
  ]);
  for (const { recoveryPlan } of all) expect(recoveryPlan!.length).toBeGreaterThan(40);
});

test("ROLL-19: near the end and past it are two incidents, the second one critical", () => {
  const [near, past] = [keyEnding("k", NOW + 1, NOW), keyEnding("k", NOW, NOW)];
  expect([near.severity, past.severity]).toEqual(["warning", "critical"]);
  expect(near.subject).not.toBe(past.subject);
});

test("ROLL-19: the plan for an ended node certificate names the agent's own renewal and its limit, then revoke before a new token", () => {
  const { recoveryPlan } = nodeCertificateEnding(NODE, NOW, NOW);
  expect(recoveryPlan).toContain("renews it by itself");
  expect(recoveryPlan).toContain(`until ${new Date(NOW + LIMITS.nodeCertificateGraceMs).toISOString()}`);
  expect(recoveryPlan).toMatch(/fairlead node revoke edge-1.*fairlead node token --name edge-1/);
});

test("ROLL-19: each code of a refused snapshot is one of the list, and its advice is the incident's", () => {
  for (const code of REJECTION_CODES) {
    expect(ERROR_CODES).toHaveProperty(code);
    expect(snapshotRejected(NODE, rejection(code)).recoveryPlan).toContain(
      ERROR_CODES[code as keyof typeof ERROR_CODES].next,
    );
  }
  expect(REJECTION_CODES).toEqual(
    expect.arrayContaining(["SNAPSHOT_SIGNATURE_INVALID", "SNAPSHOT_HASH_MISMATCH", "SNAPSHOT_ROLLBACK"]),
  );
});
