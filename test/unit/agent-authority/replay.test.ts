// Nothing is done twice: sequences, attempts and serials are remembered (SNAP-16).
import { expect, test } from "vitest";
import { RolloutId } from "../../../src/core/ids.ts";
import { at, fingerprint, HOUR_MS, intentOf, NOW } from "../../support/trust.ts";
import { createNode, verdictOf, type Delivery, type Node } from "./node.ts";

const concludeAll = async (node: Node): Promise<void> => {
  for (const { job } of node.ledger().pending()) await node.ledger().conclude(job.command_id);
};
const deliver = async (node: Node, delivery: Delivery = {}): Promise<string> => {
  const verdict = verdictOf(await node.deliver(delivery));
  await concludeAll(node);
  return verdict;
};

test("the identical command again is not run again, and a refused one gets its refusal again", async () => {
  const node = await createNode();
  const good = await node.prepare();
  expect(verdictOf(await node.receive(good.command, good.intent, good.proof))).toBe("accepted");
  expect(verdictOf(await node.receive(good.command, good.intent, good.proof))).toBe("repeated");
  expect(node.ledger().pending().length).toBe(1);

  const bad = await node.prepare({ proof: [] });
  const refusal = await node.receive(bad.command, bad.intent, bad.proof);
  node.world.now += 1000;
  expect(await node.receive(bad.command, bad.intent, bad.proof)).toEqual(refusal);
  expect(verdictOf(refusal)).toBe("INTENT_WRONG_NODE");
});

test("the identical command is still known after a restart", async () => {
  const node = await createNode();
  const { command, intent, proof } = await node.prepare();
  await node.receive(command, intent, proof);
  await node.restart();
  expect(verdictOf(await node.receive(command, intent, proof))).toBe("repeated");
});

test("an old command is refused when a newer one came after it, whether it ran or was never seen (COMMAND_REPLAYED)", async () => {
  const node = await createNode();
  const [first, unseen] = [await node.prepare(), await node.prepare()];
  expect(verdictOf(await node.receive(first.command, first.intent, first.proof))).toBe("accepted");
  expect(await deliver(node, { command: { sequence: 9, attempt: 2 } })).toBe("accepted");
  for (const old of [first, unseen]) {
    expect(verdictOf(await node.receive(old.command, old.intent, old.proof))).toBe("COMMAND_REPLAYED");
  }
  expect(node.ledger().mark()).toBe(9);
  expect(node.ledger().lastRejection()).toMatchObject({ code: "COMMAND_REPLAYED" });
});

test.each([1, 4, 5])("another command with sequence %i is refused when the mark is 5", async (sequence) => {
  const node = await createNode();
  expect(await deliver(node, { command: { sequence: 5 } })).toBe("accepted");
  expect(await deliver(node, { command: { sequence, attempt: 2 } })).toBe("COMMAND_REPLAYED");
  expect(await deliver(node, { command: { sequence: 6, attempt: 2 } })).toBe("accepted");
});

test("a refusal uses its sequence up, unless the command was for somebody else or not to be believed", async () => {
  const node = await createNode();
  expect(await deliver(node, { command: { sequence: 3, expires_at: at(NOW) } })).toBe("COMMAND_EXPIRED");
  expect(node.ledger().mark()).toBe(3);
  expect(
    await deliver(node, {
      command: { sequence: 50, subject_node_id: "33333333-3333-4333-8333-333333333333" as never },
    }),
  ).toBe("COMMAND_WRONG_NODE");
  expect(await deliver(node, { command: { sequence: 60 }, commandSigner: node.keys.release })).toBe(
    "COMMAND_UNTRUSTED",
  );
  expect(node.ledger().mark()).toBe(3);
});

test("each attempt of an intent runs once, in each direction, up to its maximum", async () => {
  const node = await createNode();
  expect(await deliver(node, { command: { attempt: 1 } })).toBe("accepted");
  expect(await deliver(node, { command: { attempt: 1 } })).toBe("ATTEMPT_REFUSED");
  expect(await deliver(node, { command: { attempt: 2 } })).toBe("accepted");
  await node.restart();
  expect(await deliver(node, { command: { attempt: 2 } })).toBe("ATTEMPT_REFUSED");
  expect(await deliver(node, { command: { attempt: 3 } })).toBe("accepted");
  expect(await deliver(node, { command: { attempt: 4 } })).toBe("ATTEMPT_REFUSED");
});

test("an intent with a lower serial is outdated, one with the same serial is another, a higher one is taken (INTENT_SERIAL_OLD)", async () => {
  const node = await createNode();
  expect(await deliver(node, { intent: { serial: 7 } })).toBe("accepted");
  expect(await deliver(node, { intent: { serial: 6 } })).toBe("INTENT_SERIAL_OLD");
  expect(await deliver(node, { intent: { serial: 7, not_after: at(NOW + HOUR_MS) } })).toBe(
    "INTENT_SERIAL_OLD",
  );
  await node.restart();
  expect(await deliver(node, { intent: { serial: 6 } })).toBe("INTENT_SERIAL_OLD");
  expect(await deliver(node, { intent: { serial: 8 } })).toBe("accepted");
  expect(await deliver(node, { intent: { serial: 7 }, command: { attempt: 2 } })).toBe("INTENT_SERIAL_OLD");
});

test("upgrade, another upgrade, the first again: a new intent makes the same bytes a new thing", async () => {
  const node = await createNode();
  const [second, third] = [
    "66666666-6666-4666-8666-666666666666",
    "77777777-7777-4777-8777-777777777777",
  ].map((id) => RolloutId.parse(id));
  expect(await deliver(node, { intent: { serial: 1 } })).toBe("accepted");
  const other = {
    command: { rollout_id: second! },
    assignment: { rollout_id: second! },
    intent: { serial: 2, rollout_id: second! },
  };
  expect(await deliver(node, other)).toBe("accepted");
  const again = {
    command: { rollout_id: third! },
    assignment: { rollout_id: third! },
    intent: { serial: 3, rollout_id: third! },
  };
  expect(await deliver(node, again)).toBe("accepted");
  expect(intentOf().fingerprint).toBe(fingerprint("v2"));
});

test("with every replica and the online key stolen nothing runs that no operator signed, and nothing twice (SNAP-15)", async () => {
  const node = await createNode();
  expect(await deliver(node)).toBe("accepted");
  const evil = fingerprint("evil");
  const artifact = { name: "hello", version: "6.6.6", fingerprint: evil, url: "https://evil.example/x" };
  const theft = {
    command: { fingerprint: evil, attempt: 2 },
    payload: { artifact },
    assignment: { target: evil },
  };
  expect(await deliver(node, theft)).toBe("INTENT_MISMATCH");
  expect(await deliver(node, { ...theft, intent: null })).toBe("COMMAND_INTENT_MISSING");
  expect(
    await deliver(node, {
      ...theft,
      intent: { fingerprint: evil, serial: 8 },
      intentSigner: node.keys.online,
    }),
  ).toBe("INTENT_UNTRUSTED");
  expect(
    await deliver(node, {
      command: { direction: "reverse", fingerprint: evil },
      payload: { artifact },
      assignment: { target: evil, current: fingerprint("v1") },
    }),
  ).toBe("ROLLBACK_REFUSED");
  expect(await deliver(node)).toBe("ATTEMPT_REFUSED");
});
