/**
 * Long polls: an agent waits here until something is for it.
 *
 * 1. A poll registers before it looks, so that nothing falls between the look and the wait.
 * 2. Revocation ends a node's polls at once.
 */
import type { NodeId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";
import { EVERYONE, NODES_CHANNEL } from "../rollout/wake.ts";

export interface Waiter {
  /** Resolves when woken, after the time, or when the caller goes away. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  cancel(): void;
}

export interface Polls {
  register(nodeId: NodeId): Waiter;
  wake(nodeId: NodeId): void;
  wakeAll(): void;
  readonly open: number;
  close(): Promise<void>;
}

export async function openPolls(db: Database): Promise<Polls> {
  const waiting = new Map<NodeId, Set<() => void>>();

  function wake(nodeId: NodeId): void {
    for (const ring of waiting.get(nodeId) ?? []) ring();
  }
  function wakeAll(): void {
    for (const nodeId of waiting.keys()) wake(nodeId);
  }

  function register(nodeId: NodeId): Waiter {
    let rung = false;
    let onRing: (() => void) | null = null;
    const ring = () => {
      rung = true;
      onRing?.();
    };
    const group = waiting.get(nodeId) ?? new Set();
    waiting.set(nodeId, group.add(ring));
    return {
      cancel() {
        group.delete(ring);
        if (group.size === 0 && waiting.get(nodeId) === group) waiting.delete(nodeId);
      },
      wait(ms, signal) {
        return new Promise((resolve) => {
          const timer = setTimeout(done, ms);
          function done() {
            clearTimeout(timer);
            signal.removeEventListener("abort", done);
            onRing = null;
            rung = false;
            resolve();
          }
          onRing = done;
          signal.addEventListener("abort", done);
          if (rung || signal.aborted) done();
        });
      },
    };
  }

  const listener = await db.listen(
    NODES_CHANNEL,
    (ids) => {
      if (ids === EVERYONE) return wakeAll();
      for (const id of ids.split(",")) wake(id as NodeId);
    },
    wakeAll, // After a lost connection: what was missed is looked up.
  );
  return {
    register,
    wake,
    wakeAll,
    get open() {
      return [...waiting.values()].reduce((sum, group) => sum + group.size, 0);
    },
    async close() {
      wakeAll();
      await listener.unlisten();
    },
  };
}
