/** The working copy that the steps of `decideGroup` write on. Lives for one call. */
import type {
  ComponentRow,
  ComponentSignal,
  GroupDecidedEvent,
  GroupDecision,
  GroupRow,
  GroupRows,
} from "./rows.ts";
import { stepGroup, type GroupEvent } from "./states.ts";
import type { Why } from "../rollout/rows.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };
export type GroupDraft = ReturnType<typeof GroupDraft>;

export function GroupDraft({ group: row, components, gate, availableSince }: GroupRows) {
  const group: Writable<GroupRow> = { ...row };
  const events: GroupDecidedEvent[] = [];
  const componentSignals: ComponentSignal[] = [];
  const appliedSignals: number[] = [];
  let lookAt: number | null = null;

  function move(event: GroupEvent, why: Why | null): boolean {
    const to = stepGroup(group.status, event);
    if (to === undefined) return false;
    events.push({ kind: "group.status", from: group.status, to, why });
    group.status = to;
    group.why = why;
    group.pauseRequested = false;
    group.gateUntil = null;
    return true;
  }

  /** It has been asked for something, now or before, and what it makes of that is not known yet. */
  const isAsked = ({ id, hasUnread }: ComponentRow): boolean =>
    hasUnread || componentSignals.some(({ rolloutId }) => rolloutId === id);

  function ask(component: ComponentRow, kind: ComponentSignal["kind"]): void {
    if (isAsked(component)) return;
    componentSignals.push({ rolloutId: component.id, kind });
    events.push({
      kind: "group.component",
      component: component.index,
      rolloutId: component.id,
      asked: kind,
    });
  }

  const finish = (): GroupDecision => ({
    group: {
      status: group.status,
      currentComponent: group.currentComponent,
      failedComponent: group.failedComponent,
      gateUntil: group.gateUntil,
      pauseRequested: group.pauseRequested,
      cancelRequested: group.cancelRequested,
      why: group.why,
    },
    componentSignals,
    appliedSignals,
    events,
    wakeAt: lookAt,
  });

  return {
    group,
    components,
    gate,
    availableSince,
    events,
    appliedSignals,
    current: (): ComponentRow | undefined => components[group.currentComponent],
    failed: (): ComponentRow | undefined =>
      group.failedComponent === null ? undefined : components[group.failedComponent],
    move,
    isAsked,
    ask,
    lookAgainAt: (at: number): void => void (lookAt = at),
    finish,
  };
}
