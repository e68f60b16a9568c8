/**
 * Where each node stood when it was last looked up. A node that stands there now, and that nobody was told of since,
 * waits without being looked up again: after every answer it polls anew, mostly with nothing there for it.
 *
 * 1. The stamp is taken before the look: what is told while it runs makes its result old.
 * 2. Telling can be lost. A node is looked up at the latest when its head is due, which is every minute or so.
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
  /** Where a node was left of which nobody was told anything since. */
  of(nodeId: NodeId): Standing | null;
  /** To be called before the look; the result notes where the node stands after it. */
  looking(nodeId: NodeId): (standing: Standing | null) => void;
}

export function createStandings(polls: Pick<Polls, "stamp">, now: () => number): Standings {
  const known = new Map<NodeId, Standing & { readonly stamp: number }>();

  function of(nodeId: NodeId): Standing | null {
    const standing = known.get(nodeId);
    return standing?.stamp === polls.stamp(nodeId) ? standing : null;
  }

  return {
    of,
    isCurrent(query) {
      const standing = of(query.nodeId);
      return (
        standing !== null && standsAt(query, standing) && now() - query.headIssuedAt! < LIMITS.headRefreshMs
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

/** It has all that it was handed, has a head, and asks for nothing again. */
export const standsAt = (query: DeliveryQuery, standing: Standing): boolean =>
  query.headIssuedAt !== null &&
  query.headIssuedAt >= (standing.headIssuedAt ?? 0) &&
  query.resync.length === 0 &&
  query.mark === standing.mark &&
  sameVersions(query.have, standing.have);

function sameVersions(a: Standing["have"], b: Standing["have"]): boolean {
  const scopes = Object.keys(a) as (keyof Standing["have"])[];
  if (scopes.length !== Object.keys(b).length) return false;
  return scopes.every(
    (scope) => a[scope]?.epoch === b[scope]?.epoch && a[scope]?.version === b[scope]?.version,
  );
}
