/**
 * What the parts of the store share: one state, what is in force, one writer.
 *
 * 1. What is saved is on disk before anyone sees it.
 * 2. Changes follow one another, each on what the one before it left: snapshots, heads and commands arrive at once.
 */
import type { Digest } from "../../core/ids.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { ScopeType } from "../../core/snapshot/scopes.ts";
import type { Clock } from "../../host/clock.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import type { VerifiedHead } from "../../trust/head.ts";
import { timeWindow } from "../../trust/node-time.ts";
import type { TimeWindow } from "../../trust/trusted-keys.ts";
import type { Identity } from "../identity/store.ts";
import type { BoundPolicy } from "./bound-policy.ts";
import type { Frames } from "./frames.ts";
import { createHeld } from "./held.ts";
import type { Layout } from "./layout.ts";
import type { KnownRevoked } from "./revoked.ts";
import { writeState } from "./state-file.ts";
import type { State } from "./state.ts";

/** What changed: a scope, or the head. */
export type Changed = ScopeType | "head";

export type StoreCore = ReturnType<typeof createCore>;

export interface CoreDeps {
  readonly identity: Identity;
  readonly clock: Clock;
  readonly layout: Layout;
  readonly frames: Frames;
  readonly fs: FileSystemPort;
}

export function createCore({ identity, clock, layout, frames, fs }: CoreDeps, first: State) {
  let state = first;
  let savedAt = clock.monotonic();
  /** Since the floor was signed, over all restarts, as far as it was saved. */
  const awakeMs = (): number => state.awake_ms + Math.round(clock.monotonic() - savedAt);
  let working: Promise<unknown> = Promise.resolve();
  const listeners = new Set<(changed: Changed) => void>();

  return {
    identity,
    clock,
    frames,
    held: createHeld(),
    /** Scopes whose active file is damaged: exactly that version, or a newer one, may come again. */
    lost: new Set<ScopeType>(),
    /** What the head named as newer when the last poll ended. */
    behind: new Map<ScopeType, SnapshotVersion>(),
    /** Since when every poll was answered, by the monotonic clock; null after one that was not. */
    answeringSince: null as number | null,
    head: null as VerifiedHead | null,
    /** The last head taken, where it cannot be verified any more: it only revokes (ADR 25). */
    remembered: null as VerifiedHead | null,
    /** Prohibitions of the last accepted policy, where it cannot be verified any more (ADR 25). */
    bound: null as BoundPolicy | null,
    revoked: { list: [], missing: [] } as KnownRevoked,
    /** Pages that the last fetch asked for in vain. */
    undelivered: new Set<Digest>() as ReadonlySet<Digest>,
    /** Whether a trust bundle was in force when the snapshots were last verified. */
    verifiedInForce: false,
    state: (): State => state,
    async save(change: State): Promise<void> {
      const raised = change.floor !== state.floor;
      const at = clock.monotonic();
      const next = { ...change, awake_ms: raised ? 0 : awakeMs() };
      await writeState(layout, next, fs); // (1)
      savedAt = at;
      state = next;
    },
    /** Awake for this long since the state was last written: what a restart would give back. */
    unsavedMs: (): number => clock.monotonic() - savedAt,
    serially<T>(work: () => Promise<T>): Promise<T> {
      const done = working.then(work);
      working = done.catch(() => undefined); // whoever asked for it hears of it
      return done; // (2)
    },
    /** SNAP-17: the newest signed time and what passed since then holds, whatever the machine's clock says. */
    time(): TimeWindow {
      return timeWindow(clock.now(), state.floor === null ? null : Date.parse(state.floor) + awakeMs());
    },
    /** Since the newest signed time: by the clock, or by how long the node was awake, whichever is longer. */
    silentMs(): number {
      if (state.floor === null) return Number.POSITIVE_INFINITY;
      return Math.max(0, clock.now() - Date.parse(state.floor), awakeMs());
    },
    subscribe(listener: (changed: Changed) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    notify(changed: Changed): void {
      for (const listener of listeners) listener(changed);
    },
  };
}
