// A reverse goes back to what this node recorded before the rollout, and nowhere else (SNAP-16).
import { expect, test } from "vitest";
import { writeActivation, type Activation } from "../../../src/agent/upgrade/activations.ts";
import type { Digest } from "../../../src/core/ids.ts";
import { fingerprint, PROFILE, ROLLOUT, RUN } from "../../support/trust.ts";
import { createNode, verdictOf, type Delivery, type Node } from "./node.ts";

const activation = (name: string, rollout_id: string | null): Activation => ({
  fingerprint: fingerprint(name),
  version: "1.0.0",
  run: RUN,
  configs: [],
  absent: [],
  url: null,
  rollout_id,
  backup: null,
});

/** The node runs v2 by this rollout, and came from v1. */
async function upgraded(record: { previous?: Activation | null; rollout?: string } = {}): Promise<Node> {
  const node = await createNode();
  node.world.installed = fingerprint("v2");
  const previous = record.previous === undefined ? activation("v1", null) : record.previous;
  const current = activation("v2", record.rollout ?? ROLLOUT);
  await writeActivation(node.dataDir, PROFILE, { key: "job", current, previous });
  return node;
}

const backTo = (target: Digest, more: Delivery = {}): Delivery => ({
  ...more,
  command: { direction: "reverse", fingerprint: target },
  payload: { artifact: { name: "hello", version: "1.0.0", fingerprint: target, url: "" } },
  assignment: { current: fingerprint("v2"), target },
});

test("the recorded previous fingerprint may come back", async () => {
  const node = await upgraded();
  expect(await node.deliver(backTo(fingerprint("v1")))).toMatchObject({
    kind: "accepted",
    pending: { job: { direction: "reverse", artifact: { fingerprint: fingerprint("v1") } } },
  });
});

test.each<[string, Parameters<typeof upgraded>[0], Digest, Delivery]>([
  ["any other fingerprint", {}, fingerprint("v0"), {}],
  ["the version that runs", {}, fingerprint("v2"), {}],
  ["anything, when nothing was there before", { previous: null }, fingerprint("v1"), {}],
  [
    "what another rollout replaced",
    { rollout: "99999999-9999-4999-8999-999999999999" },
    fingerprint("v1"),
    {},
  ],
  ["anything, when the intent allows none", {}, fingerprint("v1"), { intent: { rollback: "none" } }],
])("a reverse to %s is refused (ROLLBACK_REFUSED)", async (_, record, target, more) => {
  const node = await upgraded(record);
  expect(verdictOf(await node.deliver(backTo(target, more)))).toBe("ROLLBACK_REFUSED");
});

test("without any record there is nothing to go back to", async () => {
  const node = await createNode();
  node.world.installed = fingerprint("v2");
  expect(verdictOf(await node.deliver(backTo(fingerprint("v1"))))).toBe("ROLLBACK_REFUSED");
});

test("a reverse needs the intent's window, proof and run spec as a forward does, and runs once", async () => {
  const node = await upgraded();
  const v1 = fingerprint("v1");
  expect(verdictOf(await node.deliver(backTo(v1, { proof: [] })))).toBe("INTENT_WRONG_NODE");
  expect(verdictOf(await node.deliver(backTo(v1)))).toBe("accepted");
  expect(verdictOf(await node.deliver(backTo(v1)))).toBe("ATTEMPT_REFUSED");
});

test("ROLL-6: a retried node goes there and back again, each attempt under its own number", async () => {
  const node = await upgraded();
  const v1 = fingerprint("v1");
  const takes = async (delivery: Delivery): Promise<string> => {
    const received = await node.deliver(delivery);
    if (received.kind === "accepted") await node.ledger().conclude(received.pending.job.command_id);
    return verdictOf(received);
  };
  expect(await takes(backTo(v1))).toBe("accepted");
  // Back on v1; the second attempt goes forward from there.
  node.world.installed = v1;
  const again = { assignment: { current: v1, target: fingerprint("v2") } };
  expect(await takes({ ...again, command: { attempt: 2 } })).toBe("accepted");
  expect(await takes({ ...again, command: { attempt: 2 } })).toBe("ATTEMPT_REFUSED");
  node.world.installed = fingerprint("v2");
  const secondBack = backTo(v1);
  expect(await takes({ ...secondBack, command: { ...secondBack.command, attempt: 2 } })).toBe("accepted");
});

test("ROLL-14: long after its rollout ended a node goes back, under the same intent or, once that was called off, a new one", async () => {
  const node = await upgraded();
  const v1 = fingerprint("v1");
  await node.ledger().outdate(PROFILE, { serial: 5, digest: fingerprint("empty intent") });
  expect(verdictOf(await node.deliver(backTo(v1, { intent: { serial: 4 } })))).toBe("INTENT_SERIAL_OLD");
  expect(verdictOf(await node.deliver(backTo(v1, { intent: { serial: 6 } })))).toBe("accepted");
});
