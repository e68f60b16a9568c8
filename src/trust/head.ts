/**
 * Heads: signed by the online key for one node and a few minutes (SNAP-17).
 *
 * 1. Any online key may sign one; who signs for no scope at all is no online key.
 * 2. A head is not replaced by an older one, nor by one that takes a version back within its epoch.
 */
import type { ErrorCode } from "../core/error-codes.ts";
import { FairleadError } from "../core/errors.ts";
import type { ClusterId, KeyId, NodeId } from "../core/ids.ts";
import { HEAD_SCHEMA_VERSION, HeadContent, HeadHeader } from "../core/snapshot/head.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import type { TrustBundle } from "../core/snapshot/trust-bundle.ts";
import { canonicalBytes } from "./canonical-json.ts";
import { digestOf } from "./digest.ts";
import { decodeFrame, signFrame } from "./frame.ts";
import { AHEAD_REASON, isTooFarAhead } from "./node-time.ts";
import { whyNotSigned, whyUntrusted } from "./online-signatures.ts";
import type { Signers } from "./snapshot.ts";
import { parseCanonical } from "./strict-json.ts";
import type { TimeWindow } from "./trusted-keys.ts";

const HEAD_DOMAIN = "fairlead/head/v1";

export interface HeadDraft {
  readonly clusterId: ClusterId;
  readonly nodeId: NodeId;
  readonly epoch: number;
  readonly issuedAt: number;
  readonly lifetimeMs: number;
  readonly content: HeadContent;
}

export function signHead(draft: HeadDraft, signers: Signers): Buffer {
  const content = canonicalBytes(draft.content);
  const [first, ...others] = signers;
  const header: HeadHeader = {
    authority_epoch: draft.epoch,
    cluster_id: draft.clusterId,
    ...(others.length === 0 ? {} : { co_signer_key_ids: others.map(({ record }) => record.key_id) }),
    content_hash: digestOf(content),
    expires_at: new Date(draft.issuedAt + draft.lifetimeMs).toISOString(),
    issued_at: new Date(draft.issuedAt).toISOString(),
    schema_version: HEAD_SCHEMA_VERSION,
    signature_algorithm: first.record.algorithm,
    signer_key_id: first.record.key_id,
    subject_node_id: draft.nodeId,
  };
  return signFrame(HEAD_DOMAIN, header, content, signers);
}

export interface VerifiedHead {
  readonly header: HeadHeader;
  readonly content: HeadContent;
}

export interface HeadContext {
  readonly clusterId: ClusterId;
  readonly nodeId: NodeId;
  readonly bundle: TrustBundle | null;
  /** Bounds the time that a head can tell a node whose clock is unset. */
  readonly bundleExpiresAt?: number;
  /** As in `SnapshotContext`. */
  readonly epoch: number | null;
  readonly revokedKeys?: readonly KeyId[];
  readonly time: TimeWindow;
  /** The newest one accepted, expired or not. */
  readonly held: VerifiedHead | null;
}

export function verifyHead(bytes: Uint8Array, context: HeadContext): VerifiedHead {
  const head = openHead(bytes, context);
  const { header } = head;
  const { time, held } = context;
  if (header.cluster_id !== context.clusterId) throw refused("it is for another cluster");
  if (header.subject_node_id !== context.nodeId) throw refused("it is for another node");
  if (header.authority_epoch !== context.epoch)
    throw refused(`it is of epoch ${header.authority_epoch}, the trust bundle of ${context.epoch}`);
  if (isTooFarAhead(header.issued_at, time, { tellsTime: true })) throw refused(`issued ${AHEAD_REASON}`);
  if (Date.parse(header.issued_at) >= (context.bundleExpiresAt ?? Infinity))
    throw refused("issued after the end of the trust bundle");
  if (held !== null) refuseOlder(head, held); // (2)
  if (Date.parse(header.expires_at) <= time.effective)
    throw problem("HEAD_STALE", `it expired at ${header.expires_at}`);
  return head;
}

/** Without verification, for a head that was verified before it was stored. Null where the bytes are damaged. */
export function readHead(bytes: Uint8Array): VerifiedHead | null {
  try {
    const frame = decodeFrame(bytes);
    const header = HeadHeader.parse(parseCanonical(frame.header));
    if (digestOf(frame.content) !== header.content_hash) return null;
    return { header, content: HeadContent.parse(parseCanonical(frame.content)) };
  } catch {
    return null;
  }
}

function openHead(bytes: Uint8Array, { bundle, time, revokedKeys }: HeadContext): VerifiedHead {
  if (bundle === null) throw refused("no trust bundle is in force");
  const { frame, header } = whole(() => {
    const frame = decodeFrame(bytes);
    return { frame, header: HeadHeader.parse(parseCanonical(frame.header)) };
  });
  if (header.schema_version !== HEAD_SCHEMA_VERSION) throw refused("its version is not known here");
  const untrusted =
    whyUntrusted(header, frame, { bundle, revokedKeys, scope: null, time }) ?? // (1)
    whyNotSigned(HEAD_DOMAIN, frame, bundle);
  if (untrusted !== null) throw refused(untrusted);
  if (digestOf(frame.content) !== header.content_hash) throw refused("the content is not what was signed");
  return { header, content: whole(() => HeadContent.parse(parseCanonical(frame.content))) };
}

function refuseOlder({ header, content }: VerifiedHead, held: VerifiedHead): void {
  if (Date.parse(header.issued_at) < Date.parse(held.header.issued_at))
    throw problem("HEAD_ROLLBACK", `issued at ${header.issued_at}, before the one held`);
  for (const [scope, was] of Object.entries(held.content.scopes)) {
    const is = content.scopes[scope as ScopeType];
    if (is !== undefined && is.epoch === was.epoch && is.version < was.version)
      throw problem("HEAD_ROLLBACK", `${scope}: version ${is.version} after ${was.version}`);
  }
}

function whole<T>(decode: () => T): T {
  try {
    return decode();
  } catch (cause) {
    throw new FairleadError("HEAD_REFUSED", "head refused: its bytes are damaged", undefined, cause);
  }
}

const problem = (code: ErrorCode, why: string): FairleadError =>
  new FairleadError(code, `head refused: ${why}`);
const refused = (why: string): FairleadError => problem("HEAD_REFUSED", why);
