/**
 * Where each node stood when it was last looked up. A node that stands there now, and that nobody was told of since,
 * waits without being looked up again: after every answer it polls anew, mostly with nothing there for it.
 *
 * 1. The stamp is taken before the look: what is told while it runs makes its result old.
 * 2. Telling can be lost. A poll that has waited is always looked up at its end.
 */
import type { NodeId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { PollRequest } from "../../core/protocol/agent-api.ts";
import type { DeliveryQuery } from "./deliveries.ts";
import type { Polls } from "./polls.ts";

/** What a node will say when it has taken all that it was handed. */
export interface Standing {
  readonly have: PollRequest["have"];
  readonly mark: number;
  /** Of the head that it was handed, or had. */
  readonly headIssuedAt: number | null;
}

export interface Standings {
  /** Nothing can be there for it. */
  isCurrent(query: DeliveryQuery): boolean;
  /** To be called before the look; the result notes where the node stands after it. */
  looking(nodeId: NodeId): (standing: Standing | null) => void;
}

export function createStandings(polls: Pick<Polls, "stamp">, now: () => number): Standings {
  const known = new Map<NodeId, Standing & { readonly stamp: number }>();
  return {
    isCurrent(query) {
      const standing = known.get(query.nodeId);
      return (
        standing !== undefined &&
        standing.stamp === polls.stamp(query.nodeId) &&
        query.headIssuedAt !== null &&
        query.headIssuedAt >= (standing.headIssuedAt ?? 0) &&
        now() - query.headIssuedAt < LIMITS.headRefreshMs &&
        query.resync.length === 0 &&
        query.mark === standing.mark &&
        sameVersions(query.have, standing.have)
      );
    },
    looking(nodeId) {
      const stamp = polls.stamp(nodeId); // (1)
      return (standing) => {
        if (standing === null) known.delete(nodeId);
        else known.set(nodeId, { ...standing, stamp });
      };
    },
  };
}

function sameVersions(a: Standing["have"], b: Standing["have"]): boolean {
  const scopes = Object.keys(a) as (keyof Standing["have"])[];
  if (scopes.length !== Object.keys(b).length) return false;
  return scopes.every(
    (scope) => a[scope]?.epoch === b[scope]?.epoch && a[scope]?.version === b[scope]?.version,
  );
}
