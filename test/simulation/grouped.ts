/** The story of one group: its components on machines of their own, its policy, its operators. */
import { groupRefusalOf } from "../../src/core/group/allow.ts";
import { GROUP_SIGNALS, isGroupActive, type GroupSignalKind } from "../../src/core/group/states.ts";
import { createGroupTable, type DecideGroup, type GroupTable } from "../support/rollouts/group-table.ts";
import type { Decide } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkCompensations, checkEnd, checkRest } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
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
  const { time, random, server } = world;
  const group = createGroupTable({
    ...groupWish(random),
    ...(decide === undefined ? {} : { decide }),
    ...(decideGroup === undefined ? {} : { decideGroup }),
  });
  const fleet = createFleet(world);
  const revisions = group.components.map(() => 0);
  const nudges = group.components.map((table, index) =>
    fleet.run(table, (now) => {
      if (revisions[index] !== table.revision()) nudgeGroup(now);
      revisions[index] = table.revision();
    }),
  );
  const step = watchedGroupStep(group);
  const { nudge: nudgeGroup } = server.drive({
    step(now) {
      const asked = group.asked.length;
      group.cameBack(server.availableSince());
      step(now);
      for (const wish of group.asked.slice(asked)) nudges[Number(wish.split(" ")[1])]!(now);
    },
    decideOnly: group.decideOnly,
    hasWork: group.hasWork,
    wakeAt: group.wakeAt,
  });
  for (const [index, table] of group.components.entries())
    operate(world, { table, from: T0, nudge: nudges[index]!, mayReopen: () => false, isComponent: true });
  operateGroup(world, group, nudgeGroup);
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

/** Tells whether it was asked for something: one on its way waits for its components only. */
function settleGroup(group: GroupTable, now: number, callsOff: boolean): boolean {
  const { status, cancelRequested } = group.group();
  if (status === "rolling_back" || cancelRequested || (status === "running" && !callsOff)) return false;
  const refusal = (kind: GroupSignalKind) => groupRefusalOf(group.group(), group.load(now).components, kind);
  const onward = status === "pending" ? "start" : refusal("resume") === null ? "resume" : "skip";
  const kind = callsOff ? "cancel" : onward;
  mustBeAllowed(kind, refusal(kind));
  group.signal(kind);
  return true;
}

function operateGroup({ time, random, server }: World, group: GroupTable, nudge: (at: number) => void): void {
  function ask(kind: GroupSignalKind, now: number): void {
    const refused = groupRefusalOf(group.group(), group.load(now).components, kind) !== null;
    if (refused && !random.chance(0.1)) return;
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
  at(T0, (now) => ask("start", now));
  for (let odd = random.below(5); odd > 0; odd--)
    at(T0 + random.below(180 * MINUTE_MS), (now) => ask(random.pick(GROUP_SIGNALS), now));
  for (let looks = random.below(16); looks > 0; looks--) at(T0 + looks * 45 * MINUTE_MS, look);
}

function rests(group: GroupTable): void {
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
