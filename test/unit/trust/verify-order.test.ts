// First failing decides (SNAP-7): a snapshot that breaks two checks is refused by the earlier one.
import { expect, test } from "vitest";
import type { Json } from "../../../src/core/json.ts";
import { verifySnapshot } from "../../../src/trust/verify-snapshot.ts";
import type { SnapshotContext } from "../../../src/trust/snapshot-subject.ts";
import {
  at,
  assignmentFrame,
  contextOf,
  fingerprint,
  newKeys,
  newSigner,
  NOW,
  OTHER_NODE,
} from "../../support/trust.ts";
import { decodeFrame, encodeFrame } from "../../../src/trust/frame.ts";

const keys = newKeys();

interface Fault {
  readonly step: number;
  readonly header?: { readonly [field: string]: Json };
  readonly context?: Partial<SnapshotContext>;
  readonly bytes?: Uint8Array;
  /** Done to the finished frame. */
  readonly damage?: (frame: Buffer) => Buffer;
}

function otherSignature(frame: Buffer): Buffer {
  const parts = decodeFrame(frame);
  const bytes = Buffer.from(parts.signatures[0]!.signature, "base64");
  bytes[0]! ^= 1;
  const signature = { ...parts.signatures[0]!, signature: bytes.toString("base64") };
  return encodeFrame({ ...parts, signatures: [signature] });
}

const FAULTS: Fault[] = [
  { step: 1, header: { schema_version: 2 } },
  { step: 2, header: { cluster_id: OTHER_NODE } },
  { step: 3, header: { subject_node_id: OTHER_NODE } },
  { step: 4, header: { signer_key_id: newSigner().record.key_id } },
  { step: 5, damage: otherSignature },
  { step: 6, header: { content_hash: fingerprint("other") } },
  { step: 7, header: { expires_at: at(NOW - 1), refresh_after: at(NOW - 1) } },
  { step: 8, context: { accepted: () => ({ epoch: 2, version: 0 }) } },
  { step: 9, context: { accepted: () => ({ epoch: 1, version: 9 }) } },
  { step: 10, header: { roles: ["thin"] } },
  { step: 11, bytes: Buffer.from('{"assignments":[],"password":"x"}') },
];

function verdictOf(...faults: Fault[]) {
  const made = assignmentFrame(keys, {
    header: Object.assign({}, ...faults.map(({ header }) => header ?? {})) as Record<string, Json>,
    ...faults.find(({ bytes }) => bytes !== undefined),
  });
  const frame = faults.reduce((bytes, { damage }) => damage?.(bytes) ?? bytes, made);
  const context = Object.assign(
    {},
    ...faults.map((fault) => fault.context ?? {}),
  ) as Partial<SnapshotContext>;
  return verifySnapshot(frame, contextOf(keys, context));
}

const pairs = FAULTS.flatMap((first, index) =>
  FAULTS.slice(index + 1).map((second) => [first.step, second.step, first, second] as const),
).filter(([first, second]) => !(first === 8 && second === 9));

test.each(pairs)("of checks %i and %i the first decides", (step, _, first, second) => {
  expect(verdictOf(first, second)).toMatchObject({ kind: "rejected", step });
});

test("all faults at once are refused by the very first check", () => {
  expect(verdictOf(...FAULTS)).toMatchObject({ kind: "rejected", step: 1 });
  expect(verdictOf()).toMatchObject({ kind: "accepted" });
});
