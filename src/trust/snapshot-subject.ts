/** What a check of a snapshot looks at, and what it answers. */
import type { ErrorCode } from "../core/errors.ts";
import type { ClusterId, NodeId } from "../core/ids.ts";
import type { SnapshotHeader, SnapshotVersion } from "../core/snapshot/envelope.ts";
import type { NodeRole, ScopeType } from "../core/snapshot/scopes.ts";
import type { RootSet, TrustBundle } from "../core/snapshot/trust-bundle.ts";
import type { Frame } from "./frame.ts";
import type { TimeWindow } from "./trusted-keys.ts";

export interface SnapshotContext {
  readonly clusterId: ClusterId;
  readonly nodeId: NodeId;
  readonly roles: readonly NodeRole[];
  readonly root: RootSet;
  /** What is believed now: null before the first bundle is accepted, and when the last one has expired. */
  readonly bundle: TrustBundle | null;
  /** The last one accepted, expired or not: what only ever goes up is compared with it. */
  readonly previous?: TrustBundle | null;
  readonly accepted: (scope: ScopeType) => SnapshotVersion | null;
  readonly time: TimeWindow;
}

export interface Subject {
  readonly frame: Frame;
  readonly header: SnapshotHeader;
  readonly context: SnapshotContext;
}

export interface Failure {
  readonly code: ErrorCode;
  readonly field: string;
  readonly reason: string;
}

export const ok = null;
export const fail = (code: ErrorCode, field: string, reason: string): Failure => ({ code, field, reason });
