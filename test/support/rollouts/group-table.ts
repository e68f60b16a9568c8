/**
 * The rows of one group in memory, over those of its components: loaded, decided on and committed as
 * src/server/group/{load,advance,commit}.ts do.
 */
import { decideGroup } from "../../../src/core/group/decide.ts";
import type {
  ComponentRow,
  GateNode,
  GroupDecidedEvent,
  GroupDecision,
  GroupRow,
  GroupRows,
  GroupSignalRow,
} from "../../../src/core/group/rows.ts";
import type { FailurePolicy, GroupSignalKind } from "../../../src/core/group/states.ts";
import { isOnTarget } from "../../../src/core/rollout/draft.ts";
import { GroupId } from "../../../src/core/protocol/group-api.ts";
import { uuid, type TableWish } from "./created-rows.ts";
import { createRolloutTable, type Decide, type RolloutTable } from "./rollout-table.ts";

export type GroupTable = ReturnType<typeof createGroupTable>;
export type DecideGroup = typeof decideGroup;

export interface GroupWish extends Partial<GroupRow> {
  readonly failurePolicy: FailurePolicy;
  readonly components: readonly TableWish[];
  readonly decide?: Decide;
  readonly decideGroup?: DecideGroup;
}

export function createGroupTable(wish: GroupWish) {
  const { components: wanted, decide, decideGroup: decideIt = decideGroup, ...changes } = wish;
  const components: RolloutTable[] = wanted.map((component, index) =>
    createRolloutTable({ number: index + 1, ...component }, decide),
  );
  let group: GroupRow = {
    id: GroupId.parse(uuid(4, 1)),
    status: "pending",
    currentComponent: -1,
    failedComponent: null,
    healthWaitMs: 60_000,
    gateUntil: null,
    pauseRequested: false,
    cancelRequested: false,
    why: null,
    ...changes,
  };
  const events: GroupDecidedEvent[] = [];
  /** `start 0`, `rollback 1`, in the order in which components were asked. */
  const asked: string[] = [];
  const consumed: (GroupSignalRow & { applied: boolean })[] = [];
  let signals: GroupSignalRow[] = [];
  let [wakeAt, lastId]: [number | null, number] = [null, 0];
  let seenRevision = 0;
  let availableSince = 0;
  const revision = (): number => components.reduce((sum, table) => sum + table.revision(), 0);

  const componentRow = (table: RolloutTable, index: number): ComponentRow => {
    const { id, status, why, pauseRequested, cancelRequested, rollbackRequested, rollbackAllowed } =
      table.rollout();
    return {
      id,
      index,
      name: `part-${index}`,
      status,
      why,
      counts: table.counts(),
      onTarget: table.nodes.filter(isOnTarget).length,
      onNew: table.nodes.filter(
        ({ status: ended, stands }) =>
          (ended === "succeeded" && (stands ?? "target") === "target") ||
          (ended === "failed" && stands === "target"),
      ).length,
      unknown: table.nodes.filter(({ status: ended, stands }) => ended === "failed" && stands === "unknown")
        .length,
      pauseRequested,
      cancelRequested,
      rollbackRequested,
      rollbackAllowed,
      hasUnread: table.hasUnread(),
    };
  };

  function gate(now: number): GateNode[] {
    const component = components[group.currentComponent];
    const isDue = group.gateUntil !== null && group.gateUntil <= now;
    if (!isDue || component?.rollout().status !== "completed") return [];
    return component.nodes
      .filter((node) => node.status === "succeeded")
      .map(({ nodeId, target, facts }) => ({ nodeId, target, facts }));
  }

  const load = (now: number): GroupRows => ({
    group,
    components: components.map(componentRow),
    gate: gate(now),
    signals,
    availableSince,
  });

  function commit(decision: GroupDecision): void {
    for (const { rolloutId, kind } of decision.componentSignals) {
      const index = components.findIndex((table) => table.rollout().id === rolloutId);
      components[index]!.signal(kind, "group");
      asked.push(`${kind} ${index}`);
    }
    for (const signal of signals)
      consumed.push({ ...signal, applied: decision.appliedSignals.includes(signal.id) });
    signals = [];
    group = { ...group, ...decision.group };
    wakeAt = decision.wakeAt;
    events.push(...decision.events);
  }

  function advance(now: number): GroupDecision {
    seenRevision = revision();
    const decision = decideIt(load(now), now);
    commit(decision);
    return decision;
  }

  return {
    components,
    events,
    asked,
    consumed,
    load,
    advance,
    group: () => group,
    wakeAt: () => wakeAt,
    hasUnread: () => signals.length > 0,
    hasWork: () => signals.length > 0 || seenRevision !== revision(),
    decideOnly: (now: number): GroupDecision => decideIt(load(now), now),
    statuses: () => components.map((table) => table.rollout().status),
    signal(kind: GroupSignalKind, reason: string | null = null): void {
      signals = [...signals, { id: ++lastId, kind, actor: "ann", reason }];
    },
    /** The control plane was away until then. */
    cameBack(at: number): void {
      availableSince = at;
      for (const table of components) table.cameBack(at);
    },
    /** Nudges in both directions until nobody has anything to say any more. */
    settle(now: number): void {
      for (let round = 0; round < 100; round++) {
        const decision = advance(now);
        const steps = components.map((table) => table.advance(now));
        if (decision.events.length + steps.flatMap(({ events: said }) => said).length === 0) return;
      }
      throw new Error("the group and its components never come to rest");
    },
  };
}
