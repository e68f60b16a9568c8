// Frames that are signed together share a signature; each is believed exactly where it would be if it had its own.
import fc from "fast-check";
import { expect, test } from "vitest";
import { signCommands, sealPayload, verifyCommand } from "../../../src/trust/command.ts";
import { signTogether, verifySignature, type FrameSignature } from "../../../src/trust/frame-signatures.ts";
import { decodeFrame, encodeFrame, signFrames } from "../../../src/trust/frame.ts";
import { loadPublicKey } from "../../../src/trust/keys.ts";
import { leafHash, treeOf } from "../../../src/trust/merkle.ts";
import { codeOf } from "../../support/refusals.ts";
import * as trust from "../../support/trust.ts";

const [signer, other] = [trust.newSigner(), trust.newSigner()];
const key = loadPublicKey(signer.record);
const headersOf = (count: number) => Array.from({ length: count }, (_, at) => Buffer.from(`{"at":${at}}`));
const holds = (header: Buffer, signature: Pick<FrameSignature, "signature" | "proof">, domain = "test/v1") =>
  verifySignature(domain, header, signature, "Ed25519", key);

const headers = headersOf(11);
const signed = signTogether("test/v1", headers, [signer]).map(([signature]) => signature!);

test("SNAP-1: however many are signed together, each holds for its own header and for no other", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(39), fc.nat(39), (count, one, two) => {
      const of = headersOf(count);
      const all = signTogether("test/v1", of, [signer]).map(([signature]) => signature!);
      expect(all).toHaveLength(count);
      const [here, there] = [one % count, two % count];
      expect(holds(of[here]!, all[here]!)).toBe(true);
      expect(holds(of[there]!, all[here]!)).toBe(here === there);
    }),
    { numRuns: 60 },
  );
});

test("SNAP-1: sixteen share one signature, the seventeenth has its own, and one alone needs no proof", () => {
  const of = signTogether("test/v1", headersOf(17), [signer]).map(([signature]) => signature!);
  expect(new Set(of.slice(0, 16).map(({ signature }) => signature)).size).toBe(1);
  expect(of.slice(0, 16).every(({ proof }) => Buffer.from(proof!.siblings, "base64").length === 4 * 32)).toBe(
    true,
  );
  expect(of[16]!.signature).not.toBe(of[0]!.signature);
  expect(of[16]).not.toHaveProperty("proof");
  expect(signTogether("test/v1", [], [signer])).toEqual([]);
});

const [first, second] = [signed[0]!, signed[1]!];
const withSiblings = (change: (bytes: Buffer) => Buffer): Pick<FrameSignature, "signature" | "proof"> => ({
  ...first,
  proof: {
    ...first.proof!,
    siblings: change(Buffer.from(first.proof!.siblings, "base64")).toString("base64"),
  },
});

test.each<[string, Pick<FrameSignature, "signature" | "proof">]>([
  ["its neighbour's proof", { ...first, proof: second.proof! }],
  ["no proof", { signature: first.signature }],
  ["another side", { ...first, proof: { ...first.proof!, sides: first.proof!.sides ^ 1 } }],
  ["a sibling less", withSiblings((bytes) => bytes.subarray(0, -32))],
  ["a sibling more", withSiblings((bytes) => Buffer.concat([bytes, bytes.subarray(0, 32)]))],
  [
    "siblings in another order",
    withSiblings((bytes) => Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)])),
  ],
  [
    "a signature of its own, and a proof",
    { ...signTogether("test/v1", [headers[0]!], [signer])[0]![0]!, proof: first.proof! },
  ],
  [
    "the signature of another key",
    { ...first, signature: signTogether("test/v1", headers, [other])[0]![0]!.signature },
  ],
])("SNAP-7: a header with %s is refused", (_, signature) => {
  expect(holds(headers[0]!, first)).toBe(true);
  expect(holds(headers[0]!, signature)).toBe(false);
});

test("SNAP-1: what was signed together holds under its own domain only, and its root is nobody's header", () => {
  expect(holds(headers[0]!, first)).toBe(true);
  expect(holds(headers[0]!, first, "test/v2")).toBe(false);
  const leaves = headers.map((header) => leafHash(Buffer.concat([Buffer.from("test/v1\0"), header])));
  const { root } = treeOf(leaves);
  const alone = { signature: first.signature };
  expect(holds(root, alone, "fairlead/batch/v1")).toBe(true); // it is the root that was signed
  expect(holds(root, alone)).toBe(false);
  const [left, right] = [treeOf(leaves.slice(0, 8)).root, treeOf(leaves.slice(8)).root];
  expect(holds(Buffer.concat([Buffer.of(1), left, right]), alone)).toBe(false);
});

const [frame] = signFrames(
  "test/v1",
  [0, 1, 2].map((at) => ({ header: { at }, content: Buffer.of(at) })),
  [signer],
);
const parts = decodeFrame(frame!);
const proof = parts.signatures[0]!.proof!;
const frameWith = (changed: object) =>
  encodeFrame({ ...parts, signatures: [{ ...parts.signatures[0]!, proof: { ...proof, ...changed } }] });

test.each([
  ["a bit of a side that has no sibling", { sides: 2 ** 2 }],
  ["a negative side", { sides: -1 }],
  ["half a sibling", { siblings: Buffer.alloc(48).toString("base64") }],
  ["no sibling", { siblings: "", sides: 0 }],
  ["nine siblings", { siblings: Buffer.alloc(9 * 32).toString("base64") }],
  ["spare bits in its base64", { siblings: proof.siblings.replace(/.=$/, (end) => `${next(end[0]!)}=`) }],
  ["a field more", { more: 1 }],
])("SNAP-7: a frame whose proof has %s is malformed", (_, changed) => {
  expect(encodeFrame(decodeFrame(frame!))).toEqual(frame);
  expect(codeOf(() => decodeFrame(frameWith(changed)))).toBe("SNAPSHOT_MALFORMED");
});

function next(letter: string): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  return alphabet[alphabet.indexOf(letter) ^ 1]!;
}

test("SNAP-8: while keys rotate, both sign the same root and each holds", () => {
  const both = signTogether("test/v1", headers, [signer, other])[3]!;
  expect(both.map(({ key_id }) => key_id)).toEqual([signer.record.key_id, other.record.key_id]);
  expect(both[0]!.proof).toEqual(both[1]!.proof);
  expect(holds(headers[3]!, both[0]!)).toBe(true);
  expect(verifySignature("test/v1", headers[3]!, both[1]!, "Ed25519", loadPublicKey(other.record))).toBe(
    true,
  );
  expect(holds(headers[3]!, both[1]!)).toBe(false);
});

test("SNAP-16: commands that are signed together are each believed, and not with the signature of another batch", () => {
  const keys = trust.newKeys();
  const time = { local: trust.NOW, effective: trust.NOW };
  const batch = () =>
    signCommands(
      [1, 2, 3].map((sequence) => ({
        draft: { ...trust.commandOf(), sequence },
        payload: sealPayload(trust.payloadOf()),
      })),
      keys.online,
    );
  const [commands, again] = [
    batch(),
    signCommands(
      [
        { draft: trust.commandOf(), payload: sealPayload(trust.payloadOf()) },
        { draft: { ...trust.commandOf(), sequence: 9 }, payload: sealPayload(trust.payloadOf()) },
      ],
      keys.online,
    ),
  ];
  const bundle = trust.bundleOf(keys);
  expect(commands.map((bytes) => verifyCommand(bytes, bundle, time).header.sequence)).toEqual([1, 2, 3]);
  const borrowed = encodeFrame({
    ...decodeFrame(commands[0]!),
    signatures: decodeFrame(again[0]!).signatures,
  });
  expect(codeOf(() => verifyCommand(borrowed, bundle, time))).toBe("COMMAND_UNTRUSTED");
});
