/** The way forward: component after component, with a watch over each before the next begins (ROLL-11, ROLL-13). */
import { unreachable } from "../errors.ts";
import { hasEnded, hasFailed, isPausedByGroup, nameOf } from "./components.ts";
import type { GroupDraft } from "./draft.ts";
import { watchComponent } from "./health-gate.ts";
import type { ComponentRow } from "./rows.ts";

export function goOn(draft: GroupDraft, now: number): void {
  const { group } = draft;
  if (group.cancelRequested) return callOff(draft);
  if (group.status === "paused") return noticeForced(draft);
  if (group.status !== "running") return;
  if (group.failedComponent !== null) return applyPolicy(draft);
  if (group.currentComponent < 0) group.currentComponent = 0;
  if (callOffOpen(draft, draft.components.slice(0, group.currentComponent)) > 0) return; // skipped, and not ended yet
  const component = draft.current();
  if (component === undefined) return conclude(draft);
  if (hasFailed(component) && !draft.isAsked(component))
    return fail(draft, component, component.why?.text ?? component.status);
  return steer(draft, component, now);
}

function steer(draft: GroupDraft, component: ComponentRow, now: number): void {
  const { group } = draft;
  switch (component.status) {
    case "pending":
      if (group.pauseRequested) return pause(draft);
      return draft.ask(component, "start");
    case "running":
      if (group.pauseRequested && !component.pauseRequested) draft.ask(component, "pause");
      if (!group.pauseRequested && component.pauseRequested) draft.ask(component, "resume");
      return;
    case "paused":
      if (!isPausedByGroup(component)) return; // it waits for an approval, an intent or a person, and says so
      if (group.pauseRequested) return pause(draft);
      return draft.ask(component, "resume");
    case "completed":
      return afterWatch(draft, component, now);
    default:
      return; // on its way back, or failed: the policy has been asked
  }
}

function afterWatch(draft: GroupDraft, component: ComponentRow, now: number): void {
  const watched = watchComponent(draft, component, now);
  if (watched.kind === "watching") return;
  if (watched.kind === "unhealthy") return fail(draft, component, watched.reason);
  const { group } = draft;
  group.gateUntil = null;
  group.currentComponent = component.index + 1;
  const next = draft.current();
  if (next === undefined) return conclude(draft);
  if (group.pauseRequested) return pause(draft);
  draft.ask(next, "start");
}

function pause(draft: GroupDraft): void {
  draft.move("pause", { code: "PAUSED", text: "paused by an operator: resume, cancel or roll back" });
}

function fail(draft: GroupDraft, component: ComponentRow, reason: string): void {
  const { group } = draft;
  group.failedComponent = component.index;
  group.gateUntil = null;
  group.why = { code: "COMPONENT_FAILED", text: `${nameOf(component)} failed: ${reason}` };
  applyPolicy(draft);
}

function applyPolicy(draft: GroupDraft): void {
  const { group } = draft;
  const why = group.why ?? { code: "COMPONENT_FAILED", text: "a component failed" };
  switch (group.failurePolicy) {
    case "partial_ok":
      return stopHere(draft);
    case "rollback_all":
      draft.move("rollback", why);
      return;
    case "manual":
      draft.move("halt", { code: why.code, text: `${why.text}; resume, skip or roll back` });
      return;
    default:
      return unreachable(group.failurePolicy);
  }
}

/** What runs no further is called off; what is complete stays. */
function stopHere(draft: GroupDraft): void {
  if (callOffOpen(draft, draft.components) === 0) conclude(draft);
}

function callOff(draft: GroupDraft): void {
  if (callOffOpen(draft, draft.components) > 0) return;
  draft.group.cancelRequested = false;
  draft.move("cancel", {
    code: "CANCELLED",
    text: "cancelled by an operator; components that completed stay",
  });
}

/** Answers with how many have not ended. One that has not read its last signal is asked on a later look. */
function callOffOpen(draft: GroupDraft, components: readonly ComponentRow[]): number {
  const open = components.filter((component) => !hasEnded(component));
  for (const component of open) if (!component.cancelRequested) draft.ask(component, "cancel");
  return open.length;
}

/** All have had their turn. */
function conclude(draft: GroupDraft): void {
  const { group, components } = draft;
  if (components.some((component) => !hasEnded(component))) return;
  const well = components.filter(
    ({ status, index }) => status === "completed" && index !== group.failedComponent,
  ).length;
  if (well === components.length) draft.move("complete", null);
  else if (well > 0)
    draft.move("settle_partial", {
      code: "PARTIAL",
      text: `${well} of ${components.length} components completed; ${whatFailed(draft)}`,
    });
  else draft.move("fail", { code: "COMPONENT_FAILED", text: whatFailed(draft) });
}

function whatFailed({ group, components }: GroupDraft): string {
  const failed = components.filter(
    ({ status, index }) => status !== "completed" || index === group.failedComponent,
  );
  return `not completed: ${failed.map(nameOf).join(", ")}`;
}

/** An operator put the failed component right by its own signals (force): the group follows. */
function noticeForced(draft: GroupDraft): void {
  const failed = draft.failed();
  if (failed === undefined || draft.group.why?.code !== "COMPONENT_FAILED") return;
  if (failed.status !== "running" || failed.index !== draft.group.currentComponent) return;
  draft.group.failedComponent = null;
  draft.move("resume", null);
}
