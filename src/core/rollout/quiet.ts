/**
 * Which nodes of a batch a step looks at one by one, so that no step grows with its batch: those that reported, those
 * whose time has come. The rest is counted.
 *
 * 1. A signal may be about any node, a limit per label counts all of them, and a way back is rare: then nobody is quiet.
 * 2. Looking at one too many changes nothing. The server asks for the same nodes in SQL.
 */
import type { NodeId } from "../ids.ts";
import type { BatchNode, QuietNodes, RolloutRow, SignalRow } from "./rows.ts";
import { UNHEARD_MS } from "./wake.ts";

export interface Look {
  /** At every node, whatever its state. */
  readonly whole: boolean;
  /** At those that are installed: their wait is over. */
  readonly installed: boolean;
  /** At those that were launched before that and are not installed. */
  readonly launchedUntil: number;
}

type Watched = Pick<RolloutRow, "status" | "maxUnavailable" | "healthUntil">;

export const lookAt = (rollout: Watched, signals: readonly SignalRow[], now: number): Look => ({
  whole: rollout.status !== "running" || rollout.maxUnavailable !== null || signals.length > 0, // (1)
  installed: rollout.healthUntil !== null && rollout.healthUntil <= now,
  launchedUntil: now - UNHEARD_MS,
});

export function isLookedAt(look: Look, node: BatchNode, reported: ReadonlySet<NodeId>): boolean {
  if (look.whole) return true;
  if (node.status !== "in_progress") return false;
  if (node.direction === "reverse" || reported.has(node.nodeId)) return true;
  return node.phase === "VERIFYING" ? look.installed : (node.launchedAt ?? 0) <= look.launchedUntil;
}

/** Of nodes that are not looked at: those at work, counted. */
export function countQuiet(nodes: readonly BatchNode[]): QuietNodes {
  const atWork = nodes.filter(({ status }) => status === "in_progress");
  const installing = atWork.filter(({ phase }) => phase !== "VERIFYING");
  const launched = installing.map(({ launchedAt }) => launchedAt ?? 0);
  return {
    installing: installing.length,
    launchedAt: launched.length === 0 ? null : Math.min(...launched),
    verifying: atWork.length - installing.length,
  };
}
