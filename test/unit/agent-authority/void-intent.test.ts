// An operator's cancel reaches the node as an empty intent: it authorises nothing and outdates what came before (SNAP-15).
import { expect, test } from "vitest";
import { receiveVoidIntent } from "../../../src/agent/authority/receive-void-intent.ts";
import { createAnswerTaker } from "../../../src/agent/take-answer.ts";
import { ProfileId } from "../../../src/core/ids.ts";
import type { Intent } from "../../../src/core/protocol/intent.ts";
import { silentLogger } from "../../../src/host/log.ts";
import { signIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { intentOf, newSigner, OTHER_NODE, PROFILE } from "../../support/trust.ts";
import { createNode, verdictOf, type Node } from "./node.ts";

const EMPTY = { fingerprint: null, run_digest: null, nodes_root: null };

const take = (node: Node, changes: Partial<Intent>, signer: Signer = node.keys.release): Promise<boolean> =>
  receiveVoidIntent(
    { identity: node.identity, snapshots: node.snapshots(), ledger: node.ledger() },
    signIntent(intentOf({ ...EMPTY, ...changes }), signer),
  );

test("what was called off is not run any more, also after a restart; what is signed afterwards is", async () => {
  const node = await createNode();
  expect(await take(node, { serial: 8 })).toBe(true);
  await node.restart();
  expect(verdictOf(await node.deliver({ intent: { serial: 7 } }))).toBe("INTENT_SERIAL_OLD");
  expect(verdictOf(await node.deliver({ intent: { serial: 8 } }))).toBe("INTENT_SERIAL_OLD");
  expect(verdictOf(await node.deliver({ intent: { serial: 9 } }))).toBe("accepted");
});

test("an older cancel, or the same again, changes nothing", async () => {
  const node = await createNode();
  expect(verdictOf(await node.deliver({ intent: { serial: 9 } }))).toBe("accepted");
  const before = node.ledger().profile(PROFILE);
  expect(await take(node, { serial: 8 })).toBe(false);
  expect(await take(node, { serial: 9 })).toBe(false);
  expect(node.ledger().profile(PROFILE)).toEqual(before);
});

test("a cancel is for its profile only", async () => {
  const node = await createNode();
  await take(node, { serial: 99, chain_profile_id: ProfileId.parse("other") });
  expect(verdictOf(await node.deliver({ intent: { serial: 7 } }))).toBe("accepted");
});

test.each<[string, string, Partial<Intent>, Signer | undefined]>([
  ["INTENT_UNTRUSTED", "a stranger signed it", {}, newSigner()],
  ["INTENT_MISMATCH", "it is another cluster's", { cluster_id: OTHER_NODE as never }, undefined],
  ["INTENT_MISMATCH", "it is not empty", intentOf(), undefined],
  ["INTENT_MISMATCH", "it is half empty", { nodes_root: "ab".repeat(32) }, undefined],
])("%s when %s, and no serial moves", async (code, _, changes, signer) => {
  const node = await createNode();
  await expect(take(node, { ...changes, serial: 99 }, signer)).rejects.toMatchObject({ code });
  expect(node.ledger().profile(PROFILE).serial).toBe(0);
});

test("the online key can call nothing off", async () => {
  const node = await createNode();
  await expect(take(node, { serial: 99 }, node.keys.online)).rejects.toMatchObject({
    code: "INTENT_UNTRUSTED",
  });
});

test("SNAP-15: a cancel that arrives with a command of the cancelled intent counts first: the command is refused", async () => {
  const node = await createNode();
  const { command, intent, proof } = await node.prepare({ intent: { serial: 7 } });
  const started: unknown[] = [];
  const told: unknown[] = [];
  const answers = createAnswerTaker({
    ...node.deps(),
    keeper: { passGate: () => undefined, ask: () => ({ kind: "open" }) } as never,
    outbox: { add: async (_, body) => (told.push(body), "written") },
    log: silentLogger,
    start: (pending) => void started.push(pending),
    beat: () => undefined,
    revocationPage: async () => Promise.reject(new Error("no page is named here")),
  });
  const empty = signIntent(intentOf({ ...EMPTY, serial: 8 }), node.keys.release);
  await answers.take({
    snapshots: [],
    increments: [],
    head: null,
    void_intents: [empty.toString("base64")],
    commands: [{ command: command.toString("base64"), intent: intent!.toString("base64"), proof }],
  });
  expect(started).toEqual([]);
  expect(told).toMatchObject([{ kind: "refused", rejection: { code: "INTENT_SERIAL_OLD" } }]);
});
