/** The next trust bundle: derived here from the newest one believed, never from what a server composed, and signed here. */
import { FairleadError } from "../../core/errors.ts";
import { SnapshotId, type KeyId } from "../../core/ids.ts";
import type { RootSet, TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import {
  addRootSignature,
  draftBundle,
  nextBundle,
  rootSignatures,
  type BundleChange,
} from "../../trust/bundle-draft.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Io } from "../io.ts";
import { openBundle, type BelievedBundle } from "./believe.ts";

const DAY_MS = 24 * 3_600_000;

export interface DraftWish {
  readonly before: BelievedBundle;
  readonly changes: readonly BundleChange[];
  /** Another epoch than the one before it, and another version than the next. */
  readonly at?: { readonly epoch: number; readonly version: number };
  readonly validDays: number;
  readonly signers: readonly [Signer, ...Signer[]];
}

export function makeBundle({ before, changes, at, validDays, signers }: DraftWish, io: Io): BelievedBundle {
  const content = changes.reduce<TrustBundle>((bundle, change) => nextBundle(bundle, change), before.content);
  const [first, ...rest] = inOrder(signers, before.content.root);
  const frame = draftBundle(
    {
      snapshotId: SnapshotId.parse(io.randomUuid()),
      clusterId: before.header.cluster_id,
      version: at?.version ?? before.header.config_version + 1,
      epoch: at?.epoch ?? before.header.authority_epoch,
      content,
      issuedAt: io.now(),
      lifetimeMs: validDays * DAY_MS,
    },
    first,
  );
  const signed = rest.reduce(
    (bytes, signer) =>
      isComplete(bytes, before.content.root, content.root) ? bytes : addRootSignature(bytes, signer),
    frame,
  );
  return openBundle(signed);
}

/** The first signature is one that nodes believe today. */
function inOrder(signers: readonly Signer[], root: RootSet): [Signer, ...Signer[]] {
  const isBelieved = ({ record }: Signer) => root.keys.some((key) => key.key_id === record.key_id);
  const [first, ...rest] = [
    ...signers.filter(isBelieved),
    ...signers.filter((signer) => !isBelieved(signer)),
  ];
  if (first === undefined || !isBelieved(first))
    throw new FairleadError("INVALID_INPUT", "no root key that nodes believe today is here");
  return [first, ...rest];
}

export interface Missing {
  readonly count: number;
  readonly of: readonly KeyId[];
}

/** Nodes ask for the threshold of the set they believe, and where the set changes, for that of the new one. */
export function missingSignatures(frame: Uint8Array, before: RootSet, after: RootSet): Missing {
  const missing = [before, after].map((root) => {
    const { valid, threshold } = rootSignatures(frame, root);
    const of = root.keys.map((key) => key.key_id).filter((id) => !valid.includes(id));
    return { count: Math.max(0, threshold - valid.length), of };
  });
  return {
    count: Math.max(...missing.map(({ count }) => count)),
    of: [...new Set(missing.filter(({ count }) => count > 0).flatMap(({ of }) => of))],
  };
}

const isComplete = (frame: Uint8Array, before: RootSet, after: RootSet): boolean =>
  missingSignatures(frame, before, after).count === 0;
