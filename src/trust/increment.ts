/**
 * Signed increments: from one version of a scope's content to the next (SNAP-6).
 *
 * 1. One applies to exactly one base: same epoch, same version, same hash. Anything else means full resync.
 * 2. What counts is the result: it has the hash that was signed, and passes the checks of a full snapshot's content.
 * 3. What is kept is one self-contained frame: the increment's header and signatures over the result's bytes. It can be
 *    verified again without the base it came from.
 */
import { FairleadError } from "../core/errors.ts";
import type { Digest } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import { SnapshotHeader, type SnapshotVersion } from "../core/snapshot/envelope.ts";
import { contentHashOf, IncrementContent, IncrementHeader, isIncrement } from "../core/snapshot/increment.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { digestOf } from "./digest.ts";
import { encodeFrame, signFrame } from "./frame.ts";
import { applyChanges, resultMismatch } from "./increment-changes.ts";
import { envelopeOf, type EnvelopeDraft, type Signers } from "./snapshot.ts";
import { headerForm, openEnvelope } from "./snapshot-envelope.ts";
import { SNAPSHOT_DOMAIN } from "./snapshot-signer.ts";
import {
  fail,
  reject,
  type Failure,
  type SnapshotContext,
  type SnapshotRejection,
} from "./snapshot-subject.ts";
import { contentOf, parseContent, refuseContent, refuseHeader, untyped } from "./verify-snapshot.ts";

const INCREMENT_DOMAIN = "fairlead/increment/v1";
const INCREMENT = headerForm(IncrementHeader);
const STORED = headerForm(IncrementHeader.or(SnapshotHeader));

export interface IncrementDraft extends EnvelopeDraft {
  /** The version before, of the same epoch: `version` is the one that this leads to. */
  readonly base: { readonly version: number; readonly contentHash: Digest };
  /** The hash of the full snapshot of the new version. */
  readonly resultHash: Digest;
  readonly content: IncrementContent;
}

export function signIncrement(
  draft: IncrementDraft,
  signers: Signers,
): { readonly header: IncrementHeader; readonly frame: Buffer } {
  const content = canonicalBytes(draft.content);
  const header: IncrementHeader = {
    ...envelopeOf(draft, digestOf(content), signers),
    base_config_version: draft.base.version,
    base_content_hash: draft.base.contentHash,
    next_config_version: draft.version,
    result_content_hash: draft.resultHash,
  };
  const failure = misshapen(header);
  if (failure !== null || !IncrementContent.safeParse(draft.content).success)
    throw new FairleadError("SNAPSHOT_CONTENT_INVALID", failure?.reason ?? "these changes are no increment");
  return { header, frame: signFrame(INCREMENT_DOMAIN, header, content, signers) };
}

/** What the node has in force for the increment's scope. */
export interface ActiveContent {
  readonly version: SnapshotVersion;
  readonly contentHash: Digest;
  readonly content: Json;
}

export interface AcceptedIncrement {
  readonly kind: "accepted";
  readonly header: IncrementHeader;
  /** The result. */
  readonly content: Json;
  /** The frame to keep, for `verifyStored`. */
  readonly stored: Buffer;
}

export function verifyIncrement(
  bytes: Uint8Array,
  context: SnapshotContext,
  active: ActiveContent | null,
): AcceptedIncrement | SnapshotRejection {
  const opened = openEnvelope(bytes, INCREMENT);
  if (opened.kind === "rejected") return opened;
  const { header, frame } = opened;
  const failure = misshapen(header);
  if (failure !== null) return reject(1, failure, header);
  const subject = { ...opened, context, domain: INCREMENT_DOMAIN, contentHash: header.content_hash };
  const refused = refuseHeader(subject);
  if (refused !== null && refused.step <= 9) return refused;
  if (active === null || !isBase(active, header)) return reject(9, baseMismatch(header, active), header); // (1)
  if (refused !== null) return refused;
  const changes = parseContent(subject, untyped);
  if (changes.kind === "rejected") return changes;
  const result = applyChanges(active.content, changes.value);
  if (result.kind === "failed") return reject(result.step, result.failure, header);
  const { bytes: contentBytes } = result;
  if (
    contentBytes.length > LIMITS.snapshotContentBytesMax ||
    digestOf(contentBytes) !== header.result_content_hash
  )
    return reject(6, resultMismatch("it does not lead to the signed content"), header); // (2)
  const stored = encodeFrame({ ...frame, content: contentBytes }); // (3)
  const content = contentOf(header.scope_type, contentBytes);
  return refuseContent(subject, content) ?? { kind: "accepted", header, content: content.value, stored };
}

export interface AcceptedStored {
  readonly kind: "accepted";
  readonly header: SnapshotHeader | IncrementHeader;
  readonly content: Json;
}

/** What was accepted once, read again: a full frame, or what `verifyIncrement` said to keep. It opens no epoch any more. */
export function verifyStored(
  bytes: Uint8Array,
  context: SnapshotContext,
): AcceptedStored | SnapshotRejection {
  const opened = openEnvelope(bytes, STORED);
  if (opened.kind === "rejected") return opened;
  const { header } = opened;
  const domain = isIncrement(header) ? INCREMENT_DOMAIN : SNAPSHOT_DOMAIN;
  const subject = { ...opened, context, domain, contentHash: contentHashOf(header) };
  const refused = refuseHeader(subject);
  if (refused !== null) return refused;
  const content = parseContent(subject);
  if (content.kind === "rejected") return content;
  const refusal = refuseContent(subject, content, { except: [8] });
  return refusal ?? { kind: "accepted", header, content: content.value };
}

/** Root keys sign whole bundles only, and one header names one step forward. */
function misshapen(header: IncrementHeader): Failure | null {
  const refuse = (field: string, reason: string) => fail("SNAPSHOT_MALFORMED", field, reason);
  if (header.scope_type === "trust_bundle") return refuse("scope_type", "a trust bundle has no increments");
  if (header.next_config_version !== header.config_version)
    return refuse("next_config_version", "it is not config_version");
  if (header.base_config_version >= header.next_config_version)
    return refuse("base_config_version", "not before next_config_version");
  return null;
}

const isBase = ({ version, contentHash }: ActiveContent, header: IncrementHeader): boolean =>
  version.epoch === header.authority_epoch &&
  version.version === header.base_config_version &&
  contentHash === header.base_content_hash;

function baseMismatch(header: IncrementHeader, active: ActiveContent | null): Failure {
  const has =
    active === null ? "nothing" : `version ${active.version.version} of epoch ${active.version.epoch}`;
  const reason = `it is for version ${header.base_config_version}; this node has ${has}`;
  return fail("INCREMENT_BASE_MISMATCH", "base_config_version", reason);
}
