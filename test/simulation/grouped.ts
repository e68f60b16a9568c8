/** The story of one group: its components on machines of their own, its policy, its operators. */
import { groupRefusalOf } from "../../src/core/group/allow.ts";
import { GROUP_SIGNALS, isGroupActive, type GroupSignalKind } from "../../src/core/group/states.ts";
import { createGroupTable, type DecideGroup, type GroupTable } from "../support/rollouts/group-table.ts";
import type { Decide, RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkCompensations, checkEnd, checkRest } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
import { STEADY } from "./clocks.ts";
import { createFleet, type World } from "./fleet.ts";
import { mustBeAllowed, settleAll, settleRollout } from "./last-operator.ts";
import { operate } from "./operators.ts";
import { holds } from "./violation.ts";
import { watchedGroupStep } from "./watch-group.ts";
import { groupWish } from "./wishes.ts";

const MINUTE_MS = 60_000;

export interface GroupedParts {
  readonly decide?: Decide | undefined;
  readonly decideGroup?: DecideGroup | undefined;
}

export function playGrouped(world: World, { decide, decideGroup }: GroupedParts) {
  const { time, random } = world;
  const group = createGroupTable({
    ...groupWish(random),
    ...(decide === undefined ? {} : { decide }),
    ...(decideGroup === undefined ? {} : { decideGroup }),
  });
  const fleet = createFleet(world);
  const { nudges, nudge: nudgeGroup } = runGroup(world, group, fleet.run);
  for (const [index, table] of group.components.entries())
    operate(world, { table, from: T0, nudge: nudges[index]!, mayReopen: () => false, isComponent: true });
  operateGroup(world, { group, from: T0, nudge: nudgeGroup, mayReopen: () => true });
  time.runAll();
  rests(group);
  for (const table of group.components) checkRest(table);
  const found = settleAll(world, {
    left: () => [group.group().status].find(isGroupActive) ?? null,
    settle(now, callsOff) {
      for (const [index, table] of group.components.entries())
        settleRollout({ table, nudge: nudges[index]!, isComponent: true }, now, callsOff);
      if (settleGroup(group, now, callsOff)) nudgeGroup(now);
    },
  });
  rests(group);
  for (const table of group.components) {
    checkEnd(table);
    for (const node of table.nodes) checkMachine(node, fleet.machines.get(node.nodeId)!);
    checkCompensations(table);
  }
  return { group, found };
}

type Nudge = (at: number) => void;

/** Puts a group and its components under the drive; `run` puts one component there. */
export function runGroup(
  { server, clocks = STEADY }: World,
  group: GroupTable,
  run: (table: RolloutTable, after: (now: number) => void) => Nudge,
): { readonly nudges: readonly Nudge[]; readonly nudge: Nudge } {
  const revisions = group.components.map(() => 0);
  const nudges = group.components.map((table, index) =>
    run(table, (now) => {
      if (revisions[index] !== table.revision()) nudge(now);
      revisions[index] = table.revision();
    }),
  );
  const step = watchedGroupStep(group);
  const { nudge } = server.drive({
    step(now) {
      const asked = group.asked.length;
      group.cameBack(server.availableSince());
      step(clocks.dated(now));
      for (const wish of group.asked.slice(asked)) nudges[Number(wish.split(" ")[1])]!(now);
    },
    decideOnly: (now) => group.decideOnly(clocks.dated(now)),
    hasWork: group.hasWork,
    wakeAt: group.wakeAt,
  });
  return { nudges, nudge };
}

/** Tells whether it was asked for something: one on its way waits for its components only. */
export function settleGroup(group: GroupTable, now: number, callsOff: boolean): boolean {
  const { status, cancelRequested } = group.group();
  if (status === "rolling_back" || cancelRequested || (status === "running" && !callsOff)) return false;
  const refusal = (kind: GroupSignalKind) => groupRefusalOf(group.group(), group.load(now).components, kind);
  const onward = status === "pending" ? "start" : refusal("resume") === null ? "resume" : "skip";
  const kind = callsOff ? "cancel" : onward;
  mustBeAllowed(kind, refusal(kind));
  group.signal(kind);
  return true;
}

export interface OperatedGroup {
  readonly group: GroupTable;
  readonly from: number;
  readonly nudge: Nudge;
  /** Before one that has ended begins to go back. */
  readonly mayReopen: () => boolean;
}

export function operateGroup({ time, random, server }: World, operated: OperatedGroup): void {
  const { group, from, nudge, mayReopen } = operated;
  function ask(kind: GroupSignalKind, now: number): void {
    const refused = groupRefusalOf(group.group(), group.load(now).components, kind) !== null;
    if (refused && !random.chance(0.1)) return;
    if (kind === "rollback" && !isGroupActive(group.group().status) && !mayReopen()) return;
    group.signal(kind);
    nudge(now);
  }
  function look(now: number): void {
    const { status } = group.group();
    if (status === "pending") return ask("start", now);
    if (status === "paused") return ask(random.pick(["resume", "resume", "skip", "rollback", "cancel"]), now);
    if (status !== "running" && random.chance(0.05)) ask("rollback", now);
  }
  const at = (when: number, run: (now: number) => void): void =>
    time.after(when, (now) => time.after(server.reachableAt(now), run));
  at(from, (now) => ask("start", now));
  for (let odd = random.below(5); odd > 0; odd--)
    at(from + random.below(180 * MINUTE_MS), (now) => ask(random.pick(GROUP_SIGNALS), now));
  for (let looks = random.below(16); looks > 0; looks--) at(from + looks * 45 * MINUTE_MS, look);
}

export function rests(group: GroupTable): void {
  const rule = "everything ends or waits for a person";
  const { status } = group.group();
  const statuses = group.statuses();
  const waits = statuses.some((each) => each === "paused") || statuses.includes("rolling_back");
  const isResting = !["running", "rolling_back"].includes(status) || waits;
  holds(isResting, rule, `the group is ${status} over ${statuses.join(", ")}`);
  const expected: Record<string, (completed: number) => boolean> = {
    completed: (completed) => completed === statuses.length,
    partial: (completed) => completed > 0,
  };
  const fits = expected[status]?.(statuses.filter((each) => each === "completed").length) ?? true;
  holds(fits, rule, `the group is ${status} over ${statuses.join(", ")}`);
}
