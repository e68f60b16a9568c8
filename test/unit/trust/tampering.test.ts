// No bit of a signed frame can be changed, whichever part it is in.
import fc from "fast-check";
import { expect, test } from "vitest";
import { signCommand, verifyCommand } from "../../../src/trust/command.ts";
import { decodeFrame } from "../../../src/trust/frame.ts";
import { signIntent, verifyIntent } from "../../../src/trust/intent.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import { codeOf } from "../../support/refusals.ts";
import * as trust from "../../support/trust.ts";

const keys = trust.newKeys();
const bundle = trust.bundleOf(keys);
const context = trust.contextOf(keys);
const time = { local: trust.NOW, effective: trust.NOW };

/** Many bits of the signatures, which no signature covers, and some of the rest: odd steps meet every place in a byte. */
function* damaged(frame: Buffer, step = 41): Generator<Buffer> {
  const { header, content } = decodeFrame(frame);
  const signatures = 4 + 4 + header.length + 4 + content.length;
  for (let bit = 0; bit < frame.length * 8; bit += bit < signatures * 8 ? step : 3) {
    const copy = Buffer.from(frame);
    copy[bit >> 3]! ^= 1 << (bit & 7);
    yield copy;
  }
}

test("a snapshot is refused with any single bit flipped (SNAP-7)", () => {
  const frame = trust.assignmentFrame(keys);
  expect(verifySnapshot(frame, context).kind).toBe("accepted");
  fc.assert(
    fc.property(fc.nat(frame.length * 8 - 1), (bit) => {
      const copy = Buffer.from(frame);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      expect(verifySnapshot(copy, context).kind).toBe("rejected");
    }),
    { numRuns: 500 },
  );
  for (const bytes of damaged(frame)) expect(verifySnapshot(bytes, context).kind).toBe("rejected");
});

test("a trust bundle with exactly its threshold of signatures is refused with any single bit flipped", () => {
  const frame = trust.bundleFrame(keys);
  expect(verifySnapshot(frame, context).kind).toBe("accepted");
  for (const bytes of damaged(frame, 211)) expect(verifySnapshot(bytes, context).kind).toBe("rejected");
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
