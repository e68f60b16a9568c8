// No bit of a signed frame can be changed, whichever part it is in.
import fc from "fast-check";
import { expect, test } from "vitest";
import { signCommand, verifyCommand } from "../../../src/trust/command.ts";
import { signTogether } from "../../../src/trust/frame-signatures.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";
import { signHead, verifyHead } from "../../../src/trust/head.ts";
import { signIncrement, verifyIncrement, verifyStored } from "../../../src/trust/increment.ts";
import { signIntent, verifyIntent } from "../../../src/trust/intent.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { SNAPSHOT_DOMAIN } from "../../../src/trust/snapshot-signer.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { codeOf } from "../../support/refusals.ts";
import { activeOf, incrementDraft } from "../../support/trust-increments.ts";
import * as trust from "../../support/trust.ts";

const keys = trust.newKeys();
const bundle = trust.bundleOf(keys);
const context = trust.contextOf(keys);
const time = { local: trust.NOW, effective: trust.NOW };

/** Many bits of the signatures, which no signature covers, and some of the rest: odd steps meet every place in a byte. */
function* damaged(frame: Buffer, step = 41): Generator<Buffer> {
  const { header, content } = decodeFrame(frame);
  const signatures = 4 + 4 + header.length + 4 + content.length;
  for (let bit = 0; bit < frame.length * 8; bit += bit < signatures * 8 ? step : 7) {
    const copy = Buffer.from(frame);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    yield copy;
  }
}

const incoming = trust.newSigner();
const [known] = bundle.online_keys;
const rotating = trust.bundleOf(keys, { online_keys: [known!, { ...known!, ...incoming.record }] });
const both = [keys.online, incoming] as const;
const [before, after] = [
  { peers: [] },
  { peers: [{ node_id: trust.OTHER_NODE, address: "a:1", roles: [] }] },
];
const active = activeOf(4, before);
const onMesh = trust.contextOf(keys, { roles: ["core_mesh"], bundle: rotating });
const headOf = (signers: readonly [Signer, ...Signer[]]) =>
  signHead(
    {
      clusterId: trust.CLUSTER,
      nodeId: trust.NODE,
      epoch: 1,
      issuedAt: trust.NOW,
      lifetimeMs: 1000,
      content: { scopes: {}, revoked: [] },
    },
    signers,
  );
const incrementOf = (signers: readonly [Signer, ...Signer[]]) =>
  signIncrement(incrementDraft(5, before, after), signers).frame;

/** One of three that share a signature. */
function together(signers: readonly [Signer, ...Signer[]]): Buffer {
  const alone = [1, 2, 3].map(() => decodeFrame(trust.assignmentFrame(keys, { signers })));
  const headers = alone.map(({ header }) => header);
  return encodeFrame({ ...alone[1]!, signatures: signTogether(SNAPSHOT_DOMAIN, headers, signers)[1]! });
}

const snapshotVerdict = (bytes: Buffer) =>
  verifySnapshot(bytes, trust.contextOf(keys, { bundle: rotating })).kind;
const incrementVerdict = (bytes: Buffer) => verifyIncrement(bytes, onMesh, active).kind;
const headVerdict = (bytes: Buffer) =>
  codeOf(() =>
    verifyHead(bytes, {
      clusterId: trust.CLUSTER,
      nodeId: trust.NODE,
      bundle: rotating,
      epoch: 1,
      time,
      held: null,
    }),
  );
const [first, second, third] = keys.roots;

test.each<[string, Buffer, (bytes: Buffer) => string]>([
  ["a snapshot", trust.assignmentFrame(keys), snapshotVerdict],
  ["a snapshot that two keys signed", trust.assignmentFrame(keys, { signers: [...both] }), snapshotVerdict],
  ["a snapshot that was signed with others", together([keys.online]), snapshotVerdict],
  ["a snapshot that two keys signed with others", together([...both]), snapshotVerdict],
  ["an increment", incrementOf([keys.online]), incrementVerdict],
  ["an increment that two keys signed", incrementOf([...both]), incrementVerdict],
  ["a head", headOf([keys.online]), headVerdict],
  ["a head that two keys signed", headOf([...both]), headVerdict],
  ["a trust bundle with its threshold of signatures", trust.bundleFrame(keys), snapshotVerdict],
  [
    "a trust bundle with more than its threshold of signatures",
    trust.bundleFrame(keys, { signers: [first, second, third] }),
    snapshotVerdict,
  ],
])("SNAP-7: %s is refused with any single bit flipped", (_, frame, verdict) => {
  expect(verdict(frame)).toBe("accepted");
  for (const bytes of damaged(frame, 211)) expect(verdict(bytes)).not.toBe("accepted");
  fc.assert(
    fc.property(fc.nat(frame.length * 8 - 1), (bit) => {
      const copy = Buffer.from(frame);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      expect(verdict(copy)).not.toBe("accepted");
    }),
    { numRuns: 200 },
  );
});

test("SNAP-6: the frame that is kept of an increment is refused with any single bit flipped", () => {
  const result = verifyIncrement(incrementOf([...both]), onMesh, active);
  if (result.kind === "rejected") throw new Error(result.reason);
  expect(verifyStored(result.stored, onMesh).kind).toBe("accepted");
  for (const bytes of damaged(result.stored, 97)) expect(verifyStored(bytes, onMesh).kind).toBe("rejected");
});

test("a command is refused with any single bit flipped (SNAP-16)", () => {
  const frame = signCommand(trust.commandOf(), trust.payloadOf(), keys.online);
  const verdict = (bytes: Buffer) => codeOf(() => verifyCommand(bytes, bundle, time));
  expect(verdict(frame)).toBe("accepted");
  const codes = new Set(damaged(frame).map(verdict));
  expect([...codes].toSorted()).toEqual(["COMMAND_MALFORMED", "COMMAND_UNTRUSTED"]);
});

test("an intent is refused with any single bit flipped (SNAP-15)", () => {
  const frame = signIntent(trust.intentOf(), keys.release);
  const verdict = (bytes: Buffer) => codeOf(() => verifyIntent(bytes, bundle, time));
  expect(verdict(frame)).toBe("accepted");
  expect([...new Set(damaged(frame).map(verdict))]).toEqual(["INTENT_UNTRUSTED"]);
});

test("bytes that are no frame at all are a rejection, never an exception", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      for (const input of [bytes, Buffer.concat([Buffer.from("FLF1"), bytes])]) {
        expect(verifySnapshot(input, context)).toMatchObject({ step: 1, code: "SNAPSHOT_MALFORMED" });
      }
    }),
  );
});
