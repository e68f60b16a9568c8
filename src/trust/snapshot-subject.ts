/** What a check of a snapshot looks at, and what it answers. */
import type { ErrorCode } from "../core/error-codes.ts";
import type { ClusterId, Digest, KeyId, NodeId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { SnapshotHeader, SnapshotVersion } from "../core/snapshot/envelope.ts";
import type { NodeRole, ScopeType } from "../core/snapshot/scopes.ts";
import type { RootSet, TrustBundle } from "../core/snapshot/trust-bundle.ts";
import type { Frame } from "./frame.ts";
import type { TimeWindow } from "./trusted-keys.ts";

export interface SnapshotContext {
  readonly clusterId: ClusterId;
  readonly nodeId: NodeId;
  readonly roles: readonly NodeRole[];
  /** The node's memberships. */
  readonly organizationIds: readonly string[];
  readonly root: RootSet;
  /** What is believed now: null before the first bundle is accepted, and when the last one has expired. */
  readonly bundle: TrustBundle | null;
  /** The last one accepted, expired or not: what only ever goes up is compared with it. */
  readonly previous?: TrustBundle | null;
  /** The epoch of the newest trust bundle accepted, expired or not; null before the first. */
  readonly epoch: number | null;
  /** Online keys that a head took back. Never root keys: whoever steals an online key could lock the root out. */
  readonly revokedKeys?: readonly KeyId[];
  readonly accepted: (scope: ScopeType) => SnapshotVersion | null;
  readonly time: TimeWindow;
}

export interface Subject {
  readonly frame: Frame;
  readonly header: SnapshotHeader;
  readonly context: SnapshotContext;
  /** What the signatures were made for: a full snapshot or an increment. */
  readonly domain: string;
  /** What the header says of the frame's content. */
  readonly contentHash: Digest;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly field: string;
  readonly reason: string;
}

/** What is wrong with a content, and where. */
export type ContentFailure = Omit<Failure, "code">;

export interface ParsedContent {
  readonly kind: "parsed";
  readonly value: Json;
  /** Read along its schema and searched for secrets: these organizations it names. Null when that is still to be done. */
  readonly typed: ReadonlySet<string> | null;
}

export type HeaderCheck = (subject: Subject) => Failure | null;
export type ContentCheck = (subject: Subject, content: ParsedContent) => Failure | null;
/** A check beside the number of the seed's list that it belongs to. */
export type Step<C> = readonly [number, C];

export const ok = null;
export const fail = (code: ErrorCode, field: string, reason: string): Failure => ({ code, field, reason });

export interface SnapshotRejection extends Failure {
  readonly kind: "rejected";
  readonly step: number;
  /** As its header says, where that could be read at all: no more than a claim. */
  readonly scope?: ScopeType;
  readonly version?: SnapshotVersion;
}

export const reject = (step: number, failure: Failure, header?: SnapshotHeader): SnapshotRejection => ({
  kind: "rejected",
  step,
  ...failure,
  ...(header === undefined
    ? {}
    : {
        scope: header.scope_type,
        version: { epoch: header.authority_epoch, version: header.config_version },
      }),
});
