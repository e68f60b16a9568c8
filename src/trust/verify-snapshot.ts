/**
 * The twelve checks of a snapshot (SNAP-7), in the seed's order. Each is one small function that names its code.
 *
 * 1. The first ten touch only the header and the hash; content is parsed after them.
 * 2. The first check that fails decides; nothing after it runs.
 * 3. A rejection is a value, not an exception: the caller stores it and keeps what it had.
 */
import { FairleadError, type ErrorCode } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { LIMITS } from "../core/limits.ts";
import {
  isNewer,
  SHARED_SUBJECT,
  SNAPSHOT_SCHEMA_VERSION,
  SnapshotHeader,
  versionOf,
} from "../core/snapshot/envelope.ts";
import { SCOPES } from "../core/snapshot/scopes.ts";
import { contentSchemaOf } from "./content-schemas.ts";
import { digestOf } from "./digest.ts";
import { findSecret } from "./find-secret.ts";
import { decodeFrame } from "./frame.ts";
import { signatureVerifies, signerTrusted } from "./snapshot-signer.ts";
import { fail, ok, type Failure, type SnapshotContext, type Subject } from "./snapshot-subject.ts";
import { parseCanonical } from "./strict-json.ts";

export interface SnapshotRejection {
  readonly kind: "rejected";
  readonly step: number;
  readonly code: ErrorCode;
  readonly field: string;
  readonly reason: string;
}

export interface AcceptedSnapshot {
  readonly kind: "accepted";
  readonly header: SnapshotHeader;
  readonly content: Json;
}

/** The first check is `openEnvelope`: a header that this version does not know has fields that it cannot name. */
const HEADER_CHECKS: readonly ((subject: Subject) => Failure | null)[] = [
  clusterMatches,
  subjectMatches,
  signerTrusted,
  signatureVerifies,
  contentHashMatches,
  timesAcceptable,
  epochNotStale,
  versionNewer,
  scopeWithinRole,
];
const HEADER_STEP = 2;

const CONTENT_CHECKS: readonly ((subject: Subject, content: Json) => Failure | null)[] = [
  structureValid,
  noRawSecret,
];
const CONTENT_STEP = 11;

export function verifySnapshot(
  bytes: Uint8Array,
  context: SnapshotContext,
): AcceptedSnapshot | SnapshotRejection {
  let subject: Subject;
  try {
    subject = { ...openEnvelope(bytes), context };
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const field = error.detail?.["field"];
    return reject(1, fail(error.code, typeof field === "string" ? field : "frame", error.message));
  }
  for (const [index, check] of HEADER_CHECKS.entries()) {
    const failure = check(subject);
    if (failure !== ok) return reject(HEADER_STEP + index, failure);
  }
  let content: Json;
  try {
    content = parseCanonical(subject.frame.content);
  } catch {
    const failure = fail("SNAPSHOT_CONTENT_INVALID", "content", "the content is not canonical JSON");
    return reject(CONTENT_STEP, failure);
  }
  for (const [index, check] of CONTENT_CHECKS.entries()) {
    const failure = check(subject, content);
    if (failure !== ok) return reject(CONTENT_STEP + index, failure);
  }
  return { kind: "accepted", header: subject.header, content };
}

const reject = (step: number, failure: Failure): SnapshotRejection => ({
  kind: "rejected",
  step,
  ...failure,
});

function openEnvelope(bytes: Uint8Array): Pick<Subject, "frame" | "header"> {
  const frame = decodeFrame(bytes);
  const value = parseCanonical(frame.header);
  const version = (value as { readonly schema_version?: Json } | null)?.schema_version;
  if (typeof version === "number" && version !== SNAPSHOT_SCHEMA_VERSION) {
    const field = "schema_version";
    throw new FairleadError("SNAPSHOT_SCHEMA_UNSUPPORTED", `version ${version} is not known here`, { field });
  }
  const parsed = SnapshotHeader.safeParse(value);
  if (parsed.success) return { frame, header: parsed.data };
  const { path, message } = parsed.error.issues[0]!;
  const field = path.join(".") || "header";
  throw new FairleadError("SNAPSHOT_MALFORMED", `header field ${field}: ${message}`, { field });
}

function clusterMatches({ header, context }: Subject): Failure | null {
  if (header.cluster_id === context.clusterId) return ok;
  return fail("SNAPSHOT_WRONG_CLUSTER", "cluster_id", `it is for cluster ${header.cluster_id}`);
}

function subjectMatches({ header, context }: Subject): Failure | null {
  if (header.subject_node_id === context.nodeId) return ok;
  if (header.subject_node_id === SHARED_SUBJECT && SCOPES[header.scope_type].shared) return ok;
  return fail("SNAPSHOT_WRONG_NODE", "subject_node_id", `it is for ${header.subject_node_id}`);
}

function contentHashMatches({ header, frame }: Subject): Failure | null {
  if (digestOf(frame.content) === header.content_hash) return ok;
  return fail("SNAPSHOT_HASH_MISMATCH", "content_hash", "the content is not what was signed");
}

function timesAcceptable({ header, context }: Subject): Failure | null {
  const refuse = (field: string, reason: string) => fail("SNAPSHOT_TIME_REFUSED", field, reason);
  const at = (text: string) => Date.parse(text);
  if (at(header.issued_at) > context.time.local + LIMITS.issuedAheadMaxMs)
    return refuse("issued_at", "more than 24 hours ahead of the local clock");
  if (at(header.valid_from) > context.time.local)
    return refuse("valid_from", `not valid before ${header.valid_from}`);
  if (at(header.expires_at) <= context.time.effective)
    return refuse("expires_at", `expired at ${header.expires_at}`);
  if (at(header.refresh_after) > at(header.expires_at))
    return refuse("refresh_after", "later than expires_at");
  return ok;
}

function epochNotStale({ header, context }: Subject): Failure | null {
  const accepted = context.accepted(header.scope_type);
  if (accepted === null || header.authority_epoch >= accepted.epoch) return ok;
  return fail(
    "SNAPSHOT_EPOCH_STALE",
    "authority_epoch",
    `epoch ${header.authority_epoch} < ${accepted.epoch}`,
  );
}

function versionNewer({ header, context }: Subject): Failure | null {
  const accepted = context.accepted(header.scope_type);
  if (accepted === null || isNewer(versionOf(header), accepted)) return ok;
  return fail(
    "SNAPSHOT_ROLLBACK",
    "config_version",
    `version ${header.config_version} ≤ ${accepted.version}`,
  );
}

function scopeWithinRole({ header, context }: Subject): Failure | null {
  const beyond = header.roles.find((role) => !context.roles.includes(role));
  if (beyond === undefined) return ok;
  return fail("SNAPSHOT_SCOPE_EXCEEDED", "roles", `this node does not have the role ${beyond}`);
}

function structureValid({ header, context }: Subject, content: Json): Failure | null {
  const schema = contentSchemaOf(header.scope_type);
  if (schema === undefined)
    return fail(
      "SNAPSHOT_CONTENT_INVALID",
      "scope_type",
      `scope ${header.scope_type} is not known to this agent`,
    );
  const failure = schema(content, context.previous ?? context.bundle);
  return failure === null ? ok : fail("SNAPSHOT_CONTENT_INVALID", failure.field, failure.reason);
}

function noRawSecret(_subject: Subject, content: Json): Failure | null {
  const found = findSecret(content);
  return found === null ? ok : fail("SNAPSHOT_SECRET_FOUND", found.path, `looks like ${found.looksLike}`);
}
