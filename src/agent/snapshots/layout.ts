/** Where a node keeps what was signed for it. docs/agent-store.md explains it. */
import { join } from "node:path";
import { LIMITS } from "../../core/limits.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { ScopeType } from "../../core/snapshot/scopes.ts";

/** Header, signatures and lengths beside the largest content. */
export const FRAME_BYTES_MAX = LIMITS.snapshotContentBytesMax + 64 * 1024;

export interface Layout {
  readonly folder: string;
  /** Which frame is active, and everything that is remembered about it. */
  readonly state: string;
  /** The same bytes, written after it. */
  readonly stateCopy: string;
  readonly frames: string;
  /** The one download that is being looked at. */
  readonly pending: string;
}

export function layoutIn(dataDir: string): Layout {
  const folder = join(dataDir, "snapshots");
  return {
    folder,
    state: join(folder, "state.json"),
    stateCopy: join(folder, "state.copy.json"),
    frames: join(folder, "frames"),
    pending: join(folder, "frames", "pending"),
  };
}

/** A policy may forbid a start: the loss of its file must not allow one (ADR 25). */
export const isStoredTwice = (scope: ScopeType): boolean => scope === "degraded_mode_policy";

export const frameName = (scope: ScopeType, { epoch, version }: SnapshotVersion): string =>
  `${scope}.${epoch}.${version}.frame`;
