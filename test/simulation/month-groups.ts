/** Groups of a month (ROLL-28): two components on the same hosts, one profile each, which the group claims together. */
import { isGroupActive } from "../../src/core/group/states.ts";
import type { ProfileId } from "../../src/core/ids.ts";
import type { TableWish } from "../support/rollouts/created-rows.ts";
import { createGroupTable, type DecideGroup, type GroupTable } from "../support/rollouts/group-table.ts";
import type { Decide, RolloutTable } from "../support/rollouts/rollout-table.ts";
import type { World } from "./fleet.ts";
import { operateGroup, rests, runGroup, settleGroup } from "./grouped.ts";
import { operate } from "./operators.ts";
import { groupWish } from "./wishes.ts";

export interface MonthGroups {
  readonly world: World;
  readonly decide?: Decide | undefined;
  readonly decideGroup?: DecideGroup | undefined;
  /** Puts a component under the drive, as a rollout of its profile. */
  readonly run: (
    profile: ProfileId,
    table: RolloutTable,
    after: (now: number) => void,
  ) => (at: number) => void;
  /** Claims all profiles of the group, or none. */
  readonly claim: (group: GroupTable) => boolean;
  readonly release: (group: GroupTable) => void;
}

export function createMonthGroups({ world, decide, decideGroup, run, claim, release }: MonthGroups) {
  const begun: { readonly group: GroupTable; readonly nudge: (at: number) => void }[] = [];

  /** `components`: by profile, in the order of the group. */
  function begin(components: ReadonlyMap<ProfileId, TableWish>, now: number): void {
    const { failurePolicy, healthWaitMs } = groupWish(world.random);
    const group = createGroupTable({
      failurePolicy,
      healthWaitMs: healthWaitMs!,
      components: [...components.values()],
      ...(decide === undefined ? {} : { decide }),
      ...(decideGroup === undefined ? {} : { decideGroup }),
    });
    const profiles = [...components.keys()];
    claim(group);
    const { nudges, nudge } = runGroup(world, group, (table, after) =>
      run(profiles[group.components.indexOf(table)]!, table, after),
    );
    begun.push({ group, nudge });
    for (const [index, table] of group.components.entries())
      operate(world, { table, from: now, nudge: nudges[index]!, mayReopen: () => false, isComponent: true });
    operateGroup(world, { group, from: now, nudge, mayReopen: () => claim(group) });
  }

  return {
    begin,
    left: (): string | null => begun.map(({ group }) => group.group().status).find(isGroupActive) ?? null,
    settle(now: number, callsOff: boolean): void {
      for (const { group, nudge } of begun)
        if (isGroupActive(group.group().status) && settleGroup(group, now, callsOff)) nudge(now);
    },
    check(): void {
      for (const { group } of begun) rests(group);
    },
    ends: (): string[] => begun.map(({ group }) => `month's group ${group.group().status}`),
    tables: () => begun.map(({ group }) => group),
    /** A group ends with a step of its own. A signal that it has not read yet may open it again. */
    releaseEnded(): void {
      for (const { group } of begun)
        if (!isGroupActive(group.group().status) && !group.hasUnread()) release(group);
    },
  };
}
