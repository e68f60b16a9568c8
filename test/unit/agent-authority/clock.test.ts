// Time as a node sees it: forward by its clock, never back behind what was signed (SNAP-17).
import { expect, test } from "vitest";
import { LIMITS } from "../../../src/core/limits.ts";
import {
  at,
  assignmentFrame,
  bundleFrame,
  bundleOf,
  fingerprint,
  HOUR_MS,
  NOW,
  upgrading,
} from "../../support/trust.ts";
import { createNode, verdictOf, type Node } from "./node.ts";

const AHEAD = LIMITS.issuedAheadMaxMs;

test("an assignment is good until it expires, and then authorises nothing (ASSIGNMENT_EXPIRED)", async () => {
  const node = await createNode();
  const late = NOW + 24 * HOUR_MS;
  const command = { issued_at: at(late), expires_at: at(late + HOUR_MS) };
  const intent = { not_after: at(late + HOUR_MS) };
  const before = await node.prepare({ command, intent });
  node.world.now = late - 1;
  expect(verdictOf(await node.receive(before.command, before.intent, before.proof))).toBe("accepted");

  const other = await createNode();
  const after = await other.prepare({ command, intent });
  other.world.now = late;
  expect(verdictOf(await other.receive(after.command, after.intent, after.proof))).toBe("ASSIGNMENT_EXPIRED");
});

/** Something newer was signed, which the node has seen; then its clock is set back to noon. */
async function setBack(node: Node, signedAt: number): Promise<void> {
  node.world.now = signedAt;
  const header = { config_version: 2, issued_at: at(signedAt) };
  expect((await node.snapshots().apply(bundleFrame(node.keys, { header }))).kind).toBe("accepted");
  node.world.now = NOW;
}

test("a clock set back extends no command, and the floor survives a restart (COMMAND_EXPIRED)", async () => {
  const node = await createNode();
  const early = await node.prepare();
  await setBack(node, NOW + HOUR_MS);
  await node.restart();
  expect(node.snapshots().time()).toEqual({ local: NOW, effective: NOW + HOUR_MS });
  expect(verdictOf(await node.receive(early.command, early.intent, early.proof))).toBe("COMMAND_EXPIRED");
});

test("a clock set back extends no assignment (ASSIGNMENT_EXPIRED)", async () => {
  const node = await createNode();
  const long = at(NOW + 48 * HOUR_MS);
  const early = await node.prepare({ command: { expires_at: long }, intent: { not_after: long } });
  await setBack(node, NOW + 24 * HOUR_MS);
  await node.restart();
  expect(verdictOf(await node.receive(early.command, early.intent, early.proof))).toBe("ASSIGNMENT_EXPIRED");
});

test("an intent's window closes by signed time, though the clock was set back (INTENT_EXPIRED)", async () => {
  const node = await createNode();
  node.world.now = NOW + HOUR_MS;
  const delivery = { issuedAt: NOW + HOUR_MS, intent: { not_after: at(NOW + HOUR_MS / 2) } };
  const prepared = await node.prepare(delivery);
  node.world.now = NOW;
  expect(verdictOf(await node.receive(prepared.command, prepared.intent, prepared.proof))).toBe(
    "INTENT_EXPIRED",
  );
});

test("a command that is accepted raises the floor, as snapshots do", async () => {
  const node = await createNode();
  const ahead = { issued_at: at(NOW + AHEAD), expires_at: at(NOW + 2 * HOUR_MS) };
  const { command, intent, proof } = await node.prepare({ command: ahead });
  expect(verdictOf(await node.receive(command, intent, proof))).toBe("accepted");
  await node.restart();
  expect(node.snapshots().time()).toEqual({ local: NOW, effective: NOW + AHEAD });
});

test("SNAP-17: a command more than 15 minutes ahead is refused without a mark, and a lower sequence is taken after it", async () => {
  const node = await createNode();
  const wrong = { sequence: 9, issued_at: at(NOW + AHEAD + 1), expires_at: at(NOW + HOUR_MS) };
  const ahead = await node.prepare({ command: wrong });
  expect(verdictOf(await node.receive(ahead.command, ahead.intent, ahead.proof))).toBe("COMMAND_AHEAD");
  await node.restart();
  expect([node.ledger().mark(), node.snapshots().time().effective]).toEqual([0, NOW]);
  const right = await node.prepare({ command: { sequence: 8 } });
  expect(verdictOf(await node.receive(right.command, right.intent, right.proof))).toBe("accepted");
});

test("a snapshot that is refused moves no floor", async () => {
  const node = await createNode();
  const ahead = { issued_at: at(NOW + AHEAD), expires_at: at(NOW + 48 * HOUR_MS), roles: ["ingress"] };
  expect(await node.snapshots().apply(assignmentFrame(node.keys, { header: ahead }))).toMatchObject({
    step: 10,
  });
  expect(node.snapshots().time().effective).toBe(NOW);
});

test("an expired trust bundle authorises nothing more, running or after a restart, until a new one comes", async () => {
  const node = await createNode();
  const end = NOW + 1000 * HOUR_MS;
  node.world.now = end - HOUR_MS;
  const keysValid = bundleOf(node.keys, {
    online_keys: [{ ...bundleOf(node.keys).online_keys[0]!, valid_until: at(end + 100 * HOUR_MS) }],
    release_keys: [{ ...bundleOf(node.keys).release_keys[0]!, valid_until: at(end + 100 * HOUR_MS) }],
  });
  const header = { config_version: 2, expires_at: at(end) };
  expect((await node.snapshots().apply(bundleFrame(node.keys, { bundle: keysValid, header }))).kind).toBe(
    "accepted",
  );
  const prepared = await node.prepare({
    issuedAt: end - HOUR_MS,
    command: { expires_at: at(end + HOUR_MS) },
    intent: { not_after: at(end + HOUR_MS) },
  });
  node.world.now = end;
  expect(verdictOf(await node.receive(prepared.command, prepared.intent, prepared.proof))).toBe(
    "COMMAND_UNTRUSTED",
  );
  await node.restart();
  expect(node.snapshots().bundle()).toBeNull();
  const assignments = [upgrading({ target: fingerprint("v9") })];
  const unsigned = assignmentFrame(node.keys, {
    header: { config_version: 9, expires_at: at(end + HOUR_MS) },
    content: { assignments },
  });
  expect(await node.snapshots().apply(unsigned)).toMatchObject({ step: 4, code: "SNAPSHOT_KEY_UNTRUSTED" });
  const renewed = bundleFrame(node.keys, {
    bundle: keysValid,
    header: { config_version: 3, expires_at: at(end + HOUR_MS) },
  });
  expect((await node.snapshots().apply(renewed)).kind).toBe("accepted");
  expect(verdictOf(await node.receive(prepared.command, prepared.intent, prepared.proof))).toBe("accepted");
});
