/**
 * The twelve checks of a snapshot (SNAP-7), in the seed's order. Each is one small function that names its code.
 *
 * 1. The first ten touch only the header and the hash; content is parsed after them. What a signed content itself adds
 *    to an earlier check (a new root set, a new epoch, its sections) keeps that check's number.
 * 2. The first check that fails decides; nothing after it runs.
 * 3. A rejection is a value, not an exception: the caller stores it and keeps what it had.
 */
import type { Json } from "../core/json.ts";
import { SnapshotHeader } from "../core/snapshot/envelope.ts";
import type { ScopeType } from "../core/snapshot/scopes.ts";
import { checkContent, readContent } from "./content-schemas.ts";
import { contentWithinGrant, grantWithinNode } from "./content-scope.ts";
import { findSecret } from "./find-secret.ts";
import { newRootSigned } from "./root-signatures.ts";
import {
  clusterMatches,
  contentHashMatches,
  headerForm,
  openEnvelope,
  subjectMatches,
} from "./snapshot-envelope.ts";
import {
  epochAcceptable,
  expiryAcceptable,
  recoveryOpensEpoch,
  timesAcceptable,
  versionNewer,
} from "./snapshot-order.ts";
import { SNAPSHOT_DOMAIN, signatureVerifies, signerTrusted } from "./snapshot-signer.ts";
import {
  fail,
  ok,
  reject,
  type ContentCheck,
  type Failure,
  type HeaderCheck,
  type ParsedContent,
  type SnapshotContext,
  type SnapshotRejection,
  type Step,
  type Subject,
} from "./snapshot-subject.ts";
import { parseCanonical } from "./strict-json.ts";

export type { SnapshotRejection } from "./snapshot-subject.ts";

export interface AcceptedSnapshot {
  readonly kind: "accepted";
  readonly header: SnapshotHeader;
  readonly content: Json;
}

const FULL = headerForm(SnapshotHeader);

/** Check 1 is `openEnvelope`. */
const HEADER_CHECKS: readonly Step<HeaderCheck>[] = [
  [2, clusterMatches],
  [3, subjectMatches],
  [4, signerTrusted],
  [5, signatureVerifies],
  [6, contentHashMatches],
  [7, timesAcceptable],
  [8, epochAcceptable],
  [9, versionNewer],
  [10, grantWithinNode],
];

const CONTENT_CHECKS: readonly Step<ContentCheck>[] = [
  [5, (subject, { value }) => newRootSigned(subject, value)],
  [7, (subject, { value }) => expiryAcceptable(subject, value)],
  [8, (subject, { value }) => recoveryOpensEpoch(subject, value)],
  [10, ({ header }, { value, typed }) => contentWithinGrant(header, value, typed)],
  [11, structureValid],
  [12, noRawSecret],
];

export function verifySnapshot(
  bytes: Uint8Array,
  context: SnapshotContext,
): AcceptedSnapshot | SnapshotRejection {
  const opened = openEnvelope(bytes, FULL);
  if (opened.kind === "rejected") return opened;
  const { header } = opened;
  const subject = { ...opened, context, domain: SNAPSHOT_DOMAIN, contentHash: header.content_hash };
  const refused = refuseHeader(subject);
  if (refused !== null) return refused;
  const content = parseContent(subject);
  if (content.kind === "rejected") return content;
  return refuseContent(subject, content) ?? { kind: "accepted", header, content: content.value };
}

/** Checks 2 to 10, as far as the header goes. */
export function refuseHeader(subject: Subject): SnapshotRejection | null {
  for (const [step, check] of HEADER_CHECKS) {
    const failure = check(subject);
    if (failure !== ok) return reject(step, failure, subject.header);
  }
  return null;
}

/** Only after `refuseHeader`: whose bytes they are is known then. */
export function parseContent(
  { frame, header }: Subject,
  parse: (scope: ScopeType, bytes: Uint8Array) => ParsedContent = contentOf,
): SnapshotRejection | ParsedContent {
  try {
    return parse(header.scope_type, frame.content);
  } catch {
    const failure = fail("SNAPSHOT_CONTENT_INVALID", "content", "the content is not canonical JSON");
    return reject(11, failure, header);
  }
}

/** Along its schema where that does; else as any canonical JSON, for the checks to say what is wrong with it. */
export function contentOf(scope: ScopeType, bytes: Uint8Array): ParsedContent {
  const read = readContent(scope, bytes);
  return read === null
    ? untyped(scope, bytes)
    : { kind: "parsed", value: read.value, typed: read.organizations };
}

export const untyped = (_scope: ScopeType, bytes: Uint8Array): ParsedContent => ({
  kind: "parsed",
  value: parseCanonical(bytes),
  typed: null,
});

export function refuseContent(
  subject: Subject,
  content: ParsedContent,
  { except = [] }: { readonly except?: readonly number[] } = {},
): SnapshotRejection | null {
  for (const [step, check] of CONTENT_CHECKS) {
    if (except.includes(step)) continue;
    const failure = check(subject, content);
    if (failure !== ok) return reject(step, failure, subject.header);
  }
  return null;
}

function structureValid({ header, context }: Subject, { value, typed }: ParsedContent): Failure | null {
  if (typed !== null) return ok;
  const failure = checkContent(header.scope_type, value, context.previous ?? context.bundle);
  return failure === null ? ok : fail("SNAPSHOT_CONTENT_INVALID", failure.field, failure.reason);
}

function noRawSecret(_subject: Subject, { value, typed }: ParsedContent): Failure | null {
  const found = typed === null ? findSecret(value) : null;
  return found === null ? ok : fail("SNAPSHOT_SECRET_FOUND", found.path, `looks like ${found.looksLike}`);
}
