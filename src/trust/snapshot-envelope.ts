/** Checks 1, 2, 3 and 6 of a snapshot: what it is, for whom, and that its content is the signed one. */
import type { z } from "zod";
import { FairleadError } from "../core/errors.ts";
import type { Json } from "../core/json.ts";
import { SHARED_SUBJECT, SNAPSHOT_SCHEMA_VERSION } from "../core/snapshot/envelope.ts";
import { SCOPES } from "../core/snapshot/scopes.ts";
import { digestOf } from "./digest.ts";
import { decodeFrame, type Frame } from "./frame.ts";
import { readerFor, type ReadAlong } from "./reader/read-along.ts";
import { fail, ok, reject, type Failure, type SnapshotRejection, type Subject } from "./snapshot-subject.ts";
import { parseCanonical } from "./strict-json.ts";

export interface HeaderForm<H> {
  readonly schema: z.ZodType<H>;
  readonly read: ReadAlong<H>;
}

export const headerForm = <H>(schema: z.ZodType<H>): HeaderForm<H> => ({
  schema,
  read: readerFor(schema, { isSearched: false }),
});

export interface OpenEnvelope<H> {
  readonly kind: "open";
  readonly frame: Frame;
  readonly header: H;
}

/** A header of a version that is not known here has fields that cannot be named, so its version is looked at first. */
export function openEnvelope<H extends { readonly schema_version: number }>(
  bytes: Uint8Array,
  { schema, read }: HeaderForm<H>,
): OpenEnvelope<H> | SnapshotRejection {
  let frame: Frame;
  let value: Json;
  try {
    frame = decodeFrame(bytes);
    const header = read(frame.header)?.value;
    if (header?.schema_version === SNAPSHOT_SCHEMA_VERSION) return { kind: "open", frame, header };
    value = parseCanonical(frame.header);
  } catch (error) {
    if (error instanceof FairleadError) return reject(1, fail(error.code, "frame", error.message));
    throw error;
  }
  const version = (value as { readonly schema_version?: Json } | null)?.schema_version;
  if (typeof version === "number" && version !== SNAPSHOT_SCHEMA_VERSION) {
    const reason = `version ${version} is not known here`;
    return reject(1, fail("SNAPSHOT_SCHEMA_UNSUPPORTED", "schema_version", reason));
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: "open", frame, header: parsed.data };
  const { path, message } = parsed.error.issues[0]!;
  const field = path.join(".") || "header";
  return reject(1, fail("SNAPSHOT_MALFORMED", field, `header field ${field}: ${message}`));
}

export function clusterMatches({ header, context }: Subject): Failure | null {
  if (header.cluster_id === context.clusterId) return ok;
  return fail("SNAPSHOT_WRONG_CLUSTER", "cluster_id", `it is for cluster ${header.cluster_id}`);
}

export function subjectMatches({ header, context }: Subject): Failure | null {
  if (header.subject_node_id === context.nodeId) return ok;
  if (header.subject_node_id === SHARED_SUBJECT && SCOPES[header.scope_type].shared) return ok;
  return fail("SNAPSHOT_WRONG_NODE", "subject_node_id", `it is for ${header.subject_node_id}`);
}

export function contentHashMatches({ frame, contentHash }: Subject): Failure | null {
  if (digestOf(frame.content) === contentHash) return ok;
  return fail("SNAPSHOT_HASH_MISMATCH", "content_hash", "the content is not what was signed");
}
