// Commands for two programs of one node (ROLL-28): one sequence, one ledger, and an assignment that each launch renews.

import { expect, test } from "vitest";
import { CommandId, ProfileId, RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import { fingerprint } from "../../support/trust.ts";
import { createNode, verdictOf, type Delivery, type Node } from "./node.ts";

const [SECOND, SECOND_ROLLOUT] = [
  ProfileId.parse("second"),
  RolloutId.parse("88888888-8888-4888-8888-888888888888"),
];
const idOf = (n: number) => CommandId.parse(`00000000-0000-4000-8000-${String(n).padStart(12, "0")}`);

const ofSecond = (more: Delivery = {}): Delivery => ({
  ...more,
  command: { command_id: idOf(2), chain_profile_id: SECOND, rollout_id: SECOND_ROLLOUT, ...more.command },
  intent: { chain_profile_id: SECOND, rollout_id: SECOND_ROLLOUT, ...more.intent },
  assignment: { chain_profile_id: SECOND, rollout_id: SECOND_ROLLOUT, ...more.assignment },
});

/** Both commands wait at the server; the node has the assignment that the later launch signed. */
async function launchBoth(node: Node) {
  const first = await node.prepare();
  const second = await node.prepare(ofSecond({ beside: [first.own] }));
  return { first, second };
}
const receive = (node: Node, { command, intent, proof }: Awaited<ReturnType<Node["prepare"]>>) =>
  node.receive(command, intent, proof);
const profilesOf = (node: Node) =>
  node
    .ledger()
    .pending()
    .map(({ job }) => job.chain_profile_id);

test("ROLL-28: a command is accepted under a newer assignment that says the same of its profile", async () => {
  const node = await createNode();
  const { first, second } = await launchBoth(node);
  expect(verdictOf(await receive(node, first))).toBe("accepted");
  expect(verdictOf(await receive(node, second))).toBe("accepted");
  for (const restarted of [false, true]) {
    if (restarted) await node.restart();
    expect(profilesOf(node)).toEqual([expect.not.stringMatching(SECOND), SECOND]);
    expect(node.ledger().mark()).toBe(2);
  }
});

test("ROLL-28: a command is refused under a newer assignment that says otherwise of its profile", async () => {
  const changes = [
    { target: fingerprint("v3") },
    { rollout_id: SECOND_ROLLOUT },
    { intent_digest: fingerprint("another intent") },
  ];
  for (const changed of changes) {
    const node = await createNode();
    const first = await node.prepare();
    await node.prepare(ofSecond({ beside: [{ ...first.own, ...changed }] }));
    expect(verdictOf(await receive(node, first))).toBe("ASSIGNMENT_MISMATCH");
  }
  const left = await createNode();
  const first = await left.prepare();
  await left.prepare(ofSecond());
  expect(verdictOf(await receive(left, first))).toBe("ASSIGNMENT_MISSING");
});

test("ROLL-28: a command that names a newer assignment than the node holds is refused", async () => {
  const node = await createNode();
  expect(verdictOf(await node.deliver({ command: { assignment_config_version: 2 } }))).toBe(
    "ASSIGNMENT_MISMATCH",
  );
});

test("ROLL-28: a waiting command is no replay, and sent again it is one", async () => {
  const node = await createNode();
  const { first, second } = await launchBoth(node);
  await receive(node, first);
  await receive(node, second);
  expect(verdictOf(await receive(node, first))).toBe("COMMAND_REPLAYED"); // an older one again
  expect(verdictOf(await receive(node, second))).toBe("repeated"); // the newest again, after a lost answer
  expect(profilesOf(node)).toHaveLength(2); // both still wait, once
  await node.ledger().conclude(node.ledger().pending()[0]!.job.command_id);
  await node.restart();
  expect(verdictOf(await receive(node, first))).toBe("COMMAND_REPLAYED");
  expect(profilesOf(node)).toEqual([SECOND]);
});

test("ROLL-28: a command below the mark is refused for either program", async () => {
  const node = await createNode();
  const { first, second } = await launchBoth(node);
  await receive(node, second);
  expect(verdictOf(await receive(node, first))).toBe("COMMAND_REPLAYED");
  expect(profilesOf(node)).toEqual([SECOND]);
});

test("ROLL-28: a forward and a reverse job of every program fit into the ledger, one more is refused", async () => {
  const node = await createNode();
  const job = async (n: number) => {
    const first = await node.prepare();
    const received = await receive(node, first);
    if (received.kind !== "accepted") throw new Error(verdictOf(received));
    return { ...received.pending, job: { ...received.pending.job, command_id: idOf(n) } };
  };
  const pending = await job(1);
  const { ledger } = node;
  for (let n = 2; n <= 2 * LIMITS.nodeProfilesMax; n++)
    await ledger().accept(Buffer.from(`command ${n}`), {
      sequence: n,
      pending: { ...pending, job: { ...pending.job, command_id: idOf(n) } },
      intent: null,
    });
  await node.restart();
  expect(ledger().pending()).toHaveLength(2 * LIMITS.nodeProfilesMax);
  expect(verdictOf(await node.deliver(ofSecond({ command: { sequence: 100 } })))).toBe("NOT_READY");
});
