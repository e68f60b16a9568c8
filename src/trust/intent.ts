/** Intents: signed on an operator's machine, verified on every node (SNAP-15). */
import { FairleadError } from "../core/errors.ts";
import type { Digest, KeyId } from "../core/ids.ts";
import { Intent, INTENT_DOMAIN } from "../core/protocol/intent.ts";
import type { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import type { RunSpec } from "../core/upgrade/job.ts";
import { digestOf, digestOfJson } from "./digest.ts";
import { decodeFrame, signFrame } from "./frame.ts";
import type { Signer } from "./keys.ts";
import { parseCanonical } from "./strict-json.ts";
import { checkThreshold, releaseKeyFor, type TimeWindow } from "./trusted-keys.ts";

export const signIntent = (intent: Intent, signer: Signer): Buffer =>
  signFrame(INTENT_DOMAIN, intent, new Uint8Array(), [signer]);

export const runDigest = (run: RunSpec): Digest => digestOfJson(run);

export interface VerifiedIntent {
  readonly intent: Intent;
  /** Names the wish itself: the same intent under a second signature has the same digest. */
  readonly digest: Digest;
}

/** Throws INTENT_UNTRUSTED; says nothing about the window, which the caller compares with its own clocks. */
export function verifyIntent(
  bytes: Uint8Array,
  bundle: TrustBundle,
  time: TimeWindow,
  revokedKeys: readonly KeyId[] = [],
): VerifiedIntent {
  const { frame, header } = whole(() => {
    const frame = decodeFrame(bytes);
    return { frame, header: parseCanonical(frame.header) };
  });
  const parsed = Intent.safeParse(header);
  if (!parsed.success)
    throw untrusted(`its field ${parsed.error.issues[0]?.path.join(".") ?? ""} is not valid`);
  if (frame.content.length > 0) throw untrusted("it carries content");
  const { key_id } = frame.signatures[0]!;
  const signer = releaseKeyFor(bundle, key_id, parsed.data.chain_profile_id, time, revokedKeys);
  if (signer.kind === "untrusted") throw untrusted(signer.reason);
  const verdict = checkThreshold(INTENT_DOMAIN, frame, { threshold: 1, keys: [signer.record] });
  if (verdict.kind === "short") throw untrusted("its signature does not verify");
  return { intent: parsed.data, digest: digestOf(frame.header) };
}

export const intentDigest = (bytes: Uint8Array): Digest => digestOf(whole(() => decodeFrame(bytes)).header);

function whole<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new FairleadError("INTENT_UNTRUSTED", "the intent's bytes are damaged", undefined, cause);
  }
}

const untrusted = (why: string): FairleadError =>
  new FairleadError("INTENT_UNTRUSTED", `intent refused: ${why}`);
