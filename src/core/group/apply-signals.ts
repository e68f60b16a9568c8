/** What operators asked of a group since the last step. A signal that no longer fits is recorded as not applied. */
import { unreachable } from "../errors.ts";
import { groupRefusalOf } from "./allow.ts";
import { hasEnded } from "./components.ts";
import type { GroupDraft } from "./draft.ts";
import type { GroupSignalRow } from "./rows.ts";

export function applyGroupSignals(draft: GroupDraft, signals: readonly GroupSignalRow[]): void {
  for (const signal of signals) {
    const refused = groupRefusalOf(draft.group, draft.components, signal.kind) !== null;
    const applied = !refused && apply(draft, signal);
    const { id, kind, actor, reason } = signal;
    if (applied) draft.appliedSignals.push(id);
    draft.events.push({ kind: "group.signal", signal: kind, actor, reason, applied });
  }
}

function apply(draft: GroupDraft, { kind, actor, reason }: GroupSignalRow): boolean {
  const { group } = draft;
  const because = reason === null ? "" : `: ${reason}`;
  switch (kind) {
    case "start":
      return draft.move("start", null);
    case "pause":
      group.pauseRequested = true;
      group.why = { code: "PAUSE_REQUESTED", text: `${actor} asked to pause${because}` };
      return true;
    case "resume":
      return resume(draft);
    case "cancel":
      group.cancelRequested = true;
      group.why = {
        code: "CANCEL_REQUESTED",
        text: `${actor} cancelled; nodes at work finish first${because}`,
      };
      return true;
    case "rollback":
      group.cancelRequested = false;
      return draft.move("rollback", {
        code: "ROLLING_BACK",
        text: `${actor} asked for a rollback${because}`,
      });
    case "skip":
      return skip(draft);
    default:
      return unreachable(kind);
  }
}

/** The failed component gets its resume here: on the next look it must not count as failed again. */
function resume(draft: GroupDraft): boolean {
  const { group } = draft;
  if (group.status === "running") {
    group.pauseRequested = false;
    group.why = null;
    return true;
  }
  const failed = draft.failed();
  if (failed !== undefined && !hasEnded(failed)) {
    if (draft.isAsked(failed)) return false; // it has not read what it was asked before
    draft.ask(failed, "resume");
  }
  group.failedComponent = null;
  return draft.move("resume", null);
}

/** Left behind: what is left of it is called off, and the next one has its turn. */
function skip(draft: GroupDraft): boolean {
  const { group } = draft;
  const failed = draft.failed()!;
  if (!hasEnded(failed)) draft.ask(failed, "cancel");
  group.failedComponent = null;
  group.currentComponent = failed.index + 1;
  return draft.move("skip", null);
}
