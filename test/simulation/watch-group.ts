/** What must hold between any two steps of a group. */
import { isActive } from "../../src/core/rollout/states.ts";
import type { GroupTable } from "../support/rollouts/group-table.ts";
import { holds } from "./violation.ts";

const RULE = "no component before its gate";

/** Advances the group once and looks at what it asked of its components. */
export function watchedGroupStep(group: GroupTable): (now: number) => void {
  /** When each component completed, by the clock of the first look that saw it. */
  const completedAt = new Map<number, number>();
  let last: number | null = null;
  return (now) => {
    // The nodes under a watch are read when it is over, and not before.
    const isDue = (group.group().gateUntil ?? Infinity) <= now;
    const isIdle = last === now && !group.hasWork() && !isDue;
    const before = group.statuses();
    for (const [index, status] of before.entries())
      if (status === "completed") completedAt.set(index, Math.min(completedAt.get(index) ?? now, now)); // (a corrected clock)
    const decision = group.advance(now);
    last = now;
    if (isIdle)
      holds(decision.events.length === 0, "an idle step changes nothing", JSON.stringify(decision.events));
    for (const { rolloutId, kind } of decision.componentSignals) {
      const index = group.components.findIndex((table) => table.rollout().id === rolloutId);
      if (kind === "start") mayStart(group, before, completedAt, index, now);
      if (kind === "rollback") mayGoBack(before, index);
    }
    const isOver = !["pending", "running", "paused", "rolling_back"].includes(group.group().status);
    const open = before.filter((status) => isActive(status));
    holds(
      !isOver || open.length === 0,
      RULE,
      `the group is ${group.group().status} with components ${open.join(", ")}`,
    );
  };
}

function mayStart(
  group: GroupTable,
  before: readonly string[],
  completedAt: ReadonlyMap<number, number>,
  index: number,
  now: number,
): void {
  const earlier = before.slice(0, index);
  holds(
    earlier.every((status) => ["completed", "failed", "cancelled", "rolled_back"].includes(status)),
    RULE,
    `component ${index} begins after ${earlier.join(", ")}`,
  );
  const isWatched = earlier.at(-1) === "completed" && !group.consumed.some(({ kind }) => kind === "skip");
  if (!isWatched) return;
  const since = completedAt.get(index - 1) ?? Infinity;
  holds(now >= since + group.group().healthWaitMs, RULE, `component ${index} begins ${now - since} ms later`);
}

function mayGoBack(before: readonly string[], index: number): void {
  const later = before.slice(index + 1);
  const settled = later.every((status) =>
    ["rolled_back", "cancelled", "completed", "failed"].includes(status),
  );
  holds(settled, RULE, `component ${index} goes back before ${later.join(", ")}`);
}
