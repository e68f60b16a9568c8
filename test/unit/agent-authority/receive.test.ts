// A command acts only where intent, assignment and command agree (SNAP-15, SNAP-16): each disagreement has its code.
import { expect, test } from "vitest";
import { ProfileId, RolloutId } from "../../../src/core/ids.ts";
import { LIMITS } from "../../../src/core/limits.ts";
import * as trust from "../../support/trust.ts";
import { at, fingerprint, HOUR_MS, NOW } from "../../support/trust.ts";
import { createNode, verdictOf, type Delivery, type Node } from "./node.ts";

const OTHER_ROLLOUT = RolloutId.parse("77777777-7777-4777-8777-777777777777");
const OTHER_PROFILE = ProfileId.parse("other");
const changedConfigs = [{ ...trust.CONFIGS[0]!, sha256: fingerprint("changed.conf") }];

test("a command that intent and assignment agree on is accepted, and becomes exactly that job", async () => {
  const node = await createNode();
  const received = await node.deliver({ payload: { upgrade_id: null } });
  expect(received).toMatchObject({
    kind: "accepted",
    pending: {
      delivery: { proof: trust.TREE.proof(trust.NODE) },
      job: {
        node_id: trust.NODE,
        rollout_id: trust.ROLLOUT,
        direction: "forward",
        attempt: 1,
        artifact: { fingerprint: fingerprint("v2") },
        run: trust.RUN,
        configs: trust.CONFIGS,
      },
    },
  });
  expect(node.ledger().pending()).toEqual(received.kind === "accepted" ? [received.pending] : []);
});

type Case = [code: string, why: string, delivery: Delivery, prepare?: (node: Node) => void];

const CASES: Case[] = [
  ["COMMAND_WRONG_NODE", "it is for another node", { command: { subject_node_id: trust.OTHER_NODE } }],
  ["COMMAND_WRONG_NODE", "it is for another cluster", { command: { cluster_id: trust.OTHER_NODE as never } }],
  ["COMMAND_UNTRUSTED", "a stranger signed it", { commandSigner: trust.newSigner() }],
  ["COMMAND_EXPIRED", "it came late", { command: { expires_at: at(NOW) } }],
  [
    "COMMAND_AHEAD",
    "it was issued more than 15 minutes ahead",
    { command: { issued_at: at(NOW + LIMITS.issuedAheadMaxMs + 1), expires_at: at(NOW + 48 * HOUR_MS) } },
  ],
  ["PROFILE_UNKNOWN", "no program has this profile", {}, (node) => (node.world.knows = false)],
  [
    "ASSIGNMENT_MISSING",
    "the assignment is for another profile",
    { assignment: { chain_profile_id: OTHER_PROFILE } },
  ],
  [
    "ASSIGNMENT_MISMATCH",
    "another assignment version is meant",
    { command: { assignment_config_version: 7 } },
  ],
  ["ASSIGNMENT_MISMATCH", "the assignment has another target", { assignment: { target: fingerprint("v3") } }],
  [
    "ASSIGNMENT_MISMATCH",
    "the assignment is another rollout's",
    { assignment: { rollout_id: OTHER_ROLLOUT } },
  ],
  [
    "ASSIGNMENT_MISMATCH",
    "the assignment names another intent",
    { assignment: { intent_digest: fingerprint("intent") } },
  ],
  [
    "ASSIGNMENT_MISMATCH",
    "the artifact is not the command's",
    { payload: { artifact: { ...trust.payloadOf().artifact, fingerprint: fingerprint("v3") } } },
  ],
  ["COMMAND_INTENT_MISSING", "there is no intent, and one is required", { intent: null }],
  ["INTENT_UNTRUSTED", "a stranger signed the intent", { intentSigner: trust.newSigner() }],
  [
    "INTENT_MISMATCH",
    "the intent is another cluster's",
    { intent: { cluster_id: trust.OTHER_NODE as never } },
  ],
  ["INTENT_MISMATCH", "the intent is another rollout's", { intent: { rollout_id: OTHER_ROLLOUT } }],
  ["INTENT_MISMATCH", "the intent is for another profile", { intent: { chain_profile_id: OTHER_PROFILE } }],
  ["INTENT_MISMATCH", "the intent is for other bytes", { intent: { fingerprint: fingerprint("v3") } }],
  [
    "INTENT_MISMATCH",
    "the intent is empty, as a cancel is",
    { intent: { fingerprint: null, run_digest: null, nodes_root: null } },
  ],
  [
    "RUN_SPEC_MISMATCH",
    "the arguments were changed",
    { payload: { run: { ...trust.RUN, args: ["--insecure"] } } },
  ],
  [
    "RUN_SPEC_MISMATCH",
    "the environment was changed",
    { payload: { run: { ...trust.RUN, env: { LD_PRELOAD: "/tmp/x" } } } },
  ],
  ["RUN_SPEC_MISMATCH", "the user was changed", { payload: { run: { ...trust.RUN, user: "root" } } }],
  ["INTENT_WRONG_NODE", "the proof is another node's", { proof: trust.TREE.proof(trust.OTHER_NODE) }],
  ["INTENT_WRONG_NODE", "there is no proof", { proof: [] }],
  ["INTENT_WRONG_NODE", "the intent names other nodes only", { intent: { nodes_root: "00".repeat(32) } }],
  ["INTENT_WRONG_NODE", "a config was changed", { payload: { configs: changedConfigs } }],
  ["INTENT_WRONG_NODE", "a config was left out", { payload: { configs: [] } }],
  ["INTENT_NOT_YET", "the window is not open", { intent: { not_before: at(NOW + 1) } }],
  ["INTENT_EXPIRED", "the window is closed", { intent: { not_after: at(NOW) } }],
  ["ATTEMPT_REFUSED", "it is one attempt too many", { command: { attempt: 4 } }],
  [
    "CURRENT_MISMATCH",
    "something else is installed",
    {},
    (node) => (node.world.installed = fingerprint("v0")),
  ],
  ["CURRENT_MISMATCH", "nothing is installed", {}, (node) => (node.world.installed = null)],
];

test.each(CASES)("%s when %s", async (code, _, delivery, prepare) => {
  const node = await createNode();
  prepare?.(node);
  const received = await node.deliver(delivery);
  expect(verdictOf(received)).toBe(code);
  expect(node.ledger().pending()).toEqual([]);
  expect(node.ledger().lastRejection()).toMatchObject({ code });
});

test("another site's command is not believed, and moves nothing here", async () => {
  const [node, elsewhere] = [await createNode(), await createNode()];
  const { command, intent, proof } = await elsewhere.prepare();
  expect(verdictOf(await node.receive(command, intent, proof))).toBe("COMMAND_UNTRUSTED");
  expect(node.ledger().mark()).toBe(0);
});

test("bytes that are no command are malformed, change no mark and are told as a rejection", async () => {
  const node = await createNode();
  expect(await node.receive(Buffer.from("hello"), null, [])).toMatchObject({
    commandId: null,
    rejection: { code: "COMMAND_MALFORMED" },
  });
  expect(node.ledger().mark()).toBe(0);
});

test("where the bundle does not require intents a command without one is accepted, one with a broken one is not", async () => {
  const weak = await createNode({ intents_required: false });
  expect(verdictOf(await weak.deliver({ intent: null }))).toBe("accepted");
  await weak.ledger().conclude(weak.ledger().pending()[0]!.job.command_id);
  expect(verdictOf(await weak.deliver({ proof: [] }))).toBe("INTENT_WRONG_NODE");
});

test("SNAP-15: in a cluster that requires no intents, a command that names one does not run without it", async () => {
  const node = await createNode({ intents_required: false });
  const intent_digest = fingerprint("an intent that is not delivered");
  const named = { intent: null, command: { intent_digest }, assignment: { intent_digest } };
  expect(verdictOf(await node.deliver(named))).toBe("COMMAND_INTENT_MISSING");
  expect(verdictOf(await node.deliver({ intent: null }))).toBe("accepted");
});

test("SNAP-15: the intent that is delivered is the one that command and assignment name, by its digest", async () => {
  const node = await createNode();
  const intent_digest = fingerprint("another intent of the same rollout");
  const other = { command: { intent_digest }, assignment: { intent_digest } };
  expect(verdictOf(await node.deliver(other))).toBe("INTENT_MISMATCH");
  expect(verdictOf(await node.deliver())).toBe("accepted");
});
