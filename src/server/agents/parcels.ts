/**
 * Parcels for nodes that wait here: what a step has just written is handed over from memory (ADR 15).
 *
 * 1. Only to a node that stands where this replica last left it, when nobody was told anything of it since: then the
 *    parcel is all that there is for it. In every other case it is looked up.
 * 2. A node whose head is old is looked up too, and gets a new one with it.
 * 3. A parcel is handed over once. A node that did not get it says so by what it has, and is looked up. One that was
 *    looked up between the commit and the parcel has it already.
 * 4. Nobody comes for an old one: it is let go, and with it the memory that it shares with those of its step.
 * 5. A command that is not the node's next is looked up with those before it: another replica may have launched another
 *    program there, and the node would take its command for a replay after this one.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import { isNewer } from "../../core/snapshot/envelope.ts";
import type { Parcel, Parcels } from "../rollout/parcel.ts";
import type { DeliveryQuery } from "./deliveries.ts";
import type { Polls } from "./polls.ts";
import { standsAt, type Standing, type Standings } from "./standings.ts";

/** Above the age at which a head is renewed by itself, far below its lifetime. */
const HEAD_AGE_MAX_MS = 2 * LIMITS.headRefreshMs;

/** Each is answered at once: everybody else has a turn in between, the next step above all. */
const WOKEN_AT_ONCE = 20;

/** Longer than a poll waits. */
const KEPT_MS = 2 * LIMITS.pollWaitMaxMs;

interface Held {
  readonly parcel: Parcel;
  readonly before: Standing;
  readonly stamp: number;
  readonly at: number;
}

export interface HeldParcels {
  /** Wakes the nodes. */
  deliver(parcels: Parcels): Promise<void>;
  take(query: DeliveryQuery): Uint8Array | null;
}

export function createParcels(
  polls: Pick<Polls, "stamp" | "wake">,
  standings: Pick<Standings, "of" | "looking">,
  now: () => number,
): HeldParcels {
  const held = new Map<NodeId, Held>(); // the oldest first
  function letGoOld(): void {
    for (const [nodeId, { at }] of held) {
      if (now() - at < KEPT_MS) return;
      held.delete(nodeId);
    }
  }
  return {
    async deliver(parcels) {
      letGoOld(); // (4)
      setTimeout(letGoOld, KEPT_MS + 1).unref(); // should no step come after this one
      let woken = 0;
      for (const [nodeId, parcel] of parcels) {
        const before = standings.of(nodeId); // (1)
        polls.wake(nodeId); // whoever waits goes on after this turn of the event loop
        held.delete(nodeId);
        if (before !== null && parcel !== null && isNews(before, parcel))
          held.set(nodeId, { parcel, before, stamp: polls.stamp(nodeId), at: now() });
        if ((woken += 1) % WOKEN_AT_ONCE === 0) await nextTurn();
      }
    },
    take(query) {
      const one = held.get(query.nodeId);
      if (one === undefined) return null;
      held.delete(query.nodeId); // (3)
      const { parcel, before, stamp } = one;
      if (stamp !== polls.stamp(query.nodeId) || !standsAt(query, before)) return null; // (1)
      if (now() - query.headIssuedAt! >= HEAD_AGE_MAX_MS) return null; // (2)
      standings.looking(query.nodeId)(standingAfter(before, parcel));
      return parcel.answer;
    },
  };
}

function isNews({ have, mark }: Standing, parcel: Parcel): boolean {
  const before = have.service_assignment ?? { epoch: 0, version: 0 };
  return isNewer(parcel, before) && (parcel.sequence === null || parcel.sequence === mark + 1); // (3), (5)
}

const standingAfter = (before: Standing, { epoch, version, sequence }: Parcel): Standing => ({
  ...before,
  have: { ...before.have, service_assignment: { epoch, version } },
  mark: Math.max(before.mark, sequence ?? 0),
});
