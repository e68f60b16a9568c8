/**
 * Long polls: an agent waits here until something is for it.
 *
 * 1. A poll registers before it looks, so that nothing falls between the look and the wait.
 * 2. Revocation ends a node's polls at once.
 * 3. What this replica tells the others it has told its own waiters already.
 */
import { randomUUID } from "node:crypto";
import type { NodeId } from "../../core/ids.ts";
import type { Database } from "../db/database.ts";
import { EVERYONE, NODES_CHANNEL, readNotice } from "../rollout/wake.ts";

export interface Waiter {
  /** Resolves when woken, after the time, or when the caller has left. */
  wait(ms: number): Promise<void>;
  leave(): void;
  hasLeft(): boolean;
}

export interface Polls {
  /** Of this replica, in what it tells the others. */
  readonly name: string;
  register(nodeId: NodeId): Waiter;
  wake(nodeId: NodeId): void;
  wakeAll(): void;
  /** Changes with every wake of the node, whether it waits or not. */
  stamp(nodeId: NodeId): number;
  readonly open: number;
  close(): Promise<void>;
}

export async function openPolls(db: Database): Promise<Polls> {
  const name = randomUUID();
  const waiting = new Map<NodeId, Set<() => void>>();
  const woken = new Map<NodeId, number>();
  let wakes = 0;
  let wokenAll = 0;

  function wake(nodeId: NodeId): void {
    woken.set(nodeId, (wakes += 1));
    ring(nodeId);
  }
  function ring(nodeId: NodeId): void {
    for (const bell of waiting.get(nodeId) ?? []) bell();
  }
  function wakeAll(): void {
    wokenAll = wakes += 1;
    woken.clear();
    for (const nodeId of waiting.keys()) ring(nodeId);
  }

  function register(nodeId: NodeId): Waiter {
    let rung = false;
    let left = false;
    let onRing: (() => void) | null = null;
    const bell = () => {
      rung = true;
      onRing?.();
    };
    const group = waiting.get(nodeId) ?? new Set();
    waiting.set(nodeId, group.add(bell));
    return {
      hasLeft: () => left,
      leave() {
        left = true;
        group.delete(bell);
        if (group.size === 0 && waiting.get(nodeId) === group) waiting.delete(nodeId);
        onRing?.();
      },
      wait(ms) {
        return new Promise((resolve) => {
          const timer = setTimeout(done, ms);
          function done() {
            clearTimeout(timer);
            onRing = null;
            rung = false;
            resolve();
          }
          onRing = done;
          if (rung || left) done();
        });
      },
    };
  }

  const listener = await db.listen(
    NODES_CHANNEL,
    (text) => {
      if (text === EVERYONE) return wakeAll();
      const { from, nodeIds } = readNotice(text);
      if (from === name) return; // (3)
      for (const id of nodeIds) wake(id);
    },
    wakeAll, // After a lost connection: what was missed is looked up.
  );
  return {
    name,
    register,
    wake,
    wakeAll,
    stamp: (nodeId) => woken.get(nodeId) ?? wokenAll,
    get open() {
      return [...waiting.values()].reduce((sum, group) => sum + group.size, 0);
    },
    async close() {
      wakeAll();
      await listener.unlisten();
    },
  };
}
