/**
 * Which nodes of a batch a step looks at one by one, so that no step grows with its batch: those that reported, those
 * whose time has come. The rest is counted.
 *
 * 1. A signal may be about any node, a limit per label counts all of them, and a way back is rare: then nobody is quiet.
 * 2. Looking at one too many changes nothing. The server asks for the same nodes in SQL.
 * 3. Of those whose wait is over, the ones that can be judged, and one more than a step judges: so it knows that it leaves
 *    some. Who is waited for keeps nobody from being among them.
 */
import type { NodeId } from "../ids.ts";
import { canBeJudged, type HealthWait } from "./health.ts";
import type { BatchNode, QuietNodes, RolloutRow, SignalRow } from "./rows.ts";
import { afterReconnect, UNHEARD_MS } from "./wake.ts";

export interface Look {
  /** At every node, whatever its state. */
  readonly whole: boolean;
  /** At those that are installed and can be judged, when their wait was over. */
  readonly judged:
    | (Pick<HealthWait, "due" | "availableSince"> & { readonly now: number; readonly most: number })
    | null;
  /** At those that were launched before that and are not installed. */
  readonly launchedUntil: number;
}

type Watched = Pick<RolloutRow, "status" | "maxUnavailable" | "healthUntil">;

interface LookTime {
  readonly now: number;
  readonly availableSince: number;
  readonly settlesPerStep: number;
}

export const lookAt = (
  { status, maxUnavailable, healthUntil }: Watched,
  signals: readonly SignalRow[],
  { now, availableSince, settlesPerStep }: LookTime,
): Look => ({
  whole: status !== "running" || maxUnavailable !== null || signals.length > 0, // (1)
  judged:
    healthUntil !== null && healthUntil <= now
      ? { due: healthUntil, availableSince, now, most: settlesPerStep + 1 }
      : null,
  launchedUntil: afterReconnect(now, availableSince) > now ? 0 : now - UNHEARD_MS,
});

export function lookedAt(
  look: Look,
  nodes: readonly BatchNode[],
  reported: ReadonlySet<NodeId>,
): BatchNode[] {
  let left = look.judged?.most ?? 0;
  return nodes.filter((node) => {
    if (look.whole) return true;
    if (node.status !== "in_progress") return false;
    if (node.direction === "reverse" || reported.has(node.nodeId)) return true;
    if (node.phase !== "VERIFYING") return (node.launchedAt ?? 0) <= look.launchedUntil;
    return isDue(look, node) && left-- > 0; // (3)
  });
}

const isDue = ({ judged }: Look, { facts, installedAt }: BatchNode): boolean =>
  judged !== null && canBeJudged(facts, { ...judged, startedAt: installedAt ?? judged.now }, judged.now);

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
