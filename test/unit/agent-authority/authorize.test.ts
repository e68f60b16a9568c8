// The order of the checks: of two that fail, the earlier one answers.
import { expect, test } from "vitest";
import { authorize, type Situation } from "../../../src/agent/authority/authorize.ts";
import { attemptKey } from "../../../src/agent/authority/ledger.ts";
import { CommandId, KeyId } from "../../../src/core/ids.ts";
import type { VerifiedCommand } from "../../../src/trust/command.ts";
import { codeOf } from "../../support/refusals.ts";
import * as trust from "../../support/trust.ts";
import { at, fingerprint, NOW } from "../../support/trust.ts";

const keys = trust.newKeys();
const digest = fingerprint("intent");
const command: VerifiedCommand = {
  header: {
    ...trust.commandOf({
      intent_digest: digest,
      command_id: CommandId.parse("00000000-0000-4000-8000-000000000001"),
    }),
    signer_key_id: KeyId.parse(keys.online.record.key_id),
    content_hash: fingerprint("payload"),
  },
  payload: trust.payloadOf(),
};
const intent = { intent: trust.intentOf(), digest };
const assignment = {
  header: { config_version: 1, expires_at: at(NOW + 1000) },
  content: { assignments: [trust.upgrading({ intent_digest: digest })] },
};
const good: Situation = {
  nodeId: trust.NODE,
  clusterId: trust.CLUSTER,
  time: { local: NOW, effective: NOW },
  mark: 0,
  bundle: trust.bundleOf(keys),
  knowsProfile: true,
  assignment,
  intent,
  proof: trust.TREE.proof(trust.NODE),
  ledger: { serial: 7, intent_digest: digest, ran: [] },
  installed: fingerprint("v1"),
  activation: null,
};
const wish = (changes: object) => ({ intent: { ...intent, intent: { ...intent.intent, ...changes } } });

/** Each breaks one check, in the order of the checks; those that would undo one another are told apart by their key. */
const FAULTS: [code: string, key: string, fault: Partial<Situation>][] = [
  ["COMMAND_WRONG_NODE", "nodeId", { nodeId: trust.OTHER_NODE }],
  ["COMMAND_REPLAYED", "mark", { mark: 1 }],
  ["COMMAND_EXPIRED", "time", { time: { local: NOW, effective: NOW + 3_600_000 } }],
  ["PROFILE_UNKNOWN", "knows", { knowsProfile: false }],
  ["ASSIGNMENT_MISSING", "assignment", { assignment: null }],
  [
    "ASSIGNMENT_EXPIRED",
    "assignment",
    { assignment: { ...assignment, header: { config_version: 1, expires_at: at(NOW) } } },
  ],
  [
    "ASSIGNMENT_MISMATCH",
    "assignment",
    { assignment: { ...assignment, header: { ...assignment.header, config_version: 0 } } },
  ],
  ["COMMAND_INTENT_MISSING", "intent", { intent: null }],
  ["INTENT_MISMATCH", "intent", wish({ fingerprint: fingerprint("v3") })],
  ["RUN_SPEC_MISMATCH", "intent", wish({ run_digest: fingerprint("run") })],
  ["INTENT_WRONG_NODE", "proof", { proof: [] }],
  ["INTENT_NOT_YET", "intent", wish({ not_before: at(NOW + 1) })],
  ["INTENT_EXPIRED", "intent", wish({ not_after: at(NOW) })],
  ["INTENT_SERIAL_OLD", "ledger", { ledger: { ...good.ledger, serial: 8 } }],
  ["ATTEMPT_REFUSED", "ledger", { ledger: { ...good.ledger, ran: [attemptKey(digest, "forward", 1)] } }],
  ["CURRENT_MISMATCH", "installed", { installed: fingerprint("v0") }],
];

test("where all agree the answer is the job", () => {
  expect(authorize(command, good)).toMatchObject({
    rollout_id: trust.ROLLOUT,
    artifact: { fingerprint: fingerprint("v2") },
  });
});

test.each(FAULTS)("%s is answered alone, and before every later check", (code, key, fault) => {
  expect(codeOf(() => authorize(command, { ...good, ...fault }))).toBe(code);
  const later = FAULTS.slice(FAULTS.findIndex(([each]) => each === code) + 1).filter(
    ([, each]) => each !== key,
  );
  for (const [, , other] of later) {
    expect(codeOf(() => authorize(command, { ...good, ...other, ...fault }))).toBe(code);
  }
});

test("the intent that is the newest already may go on with its next attempt; another of the same serial may not", () => {
  const next = { ...command, header: { ...command.header, attempt: 2 } };
  const ran = { ...good.ledger, ran: [attemptKey(digest, "forward", 1)] };
  expect(codeOf(() => authorize(next, { ...good, ledger: ran }))).toBe("accepted");
  const twin = { ...good.ledger, intent_digest: fingerprint("twin") };
  expect(codeOf(() => authorize(next, { ...good, ledger: twin }))).toBe("INTENT_SERIAL_OLD");
});
