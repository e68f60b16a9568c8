/** The way back of a group: the last component first, each whole before the one before it (ROLL-14). */
import { canGoBack, hasEnded, nameOf } from "./components.ts";
import type { GroupDraft } from "./draft.ts";
import type { ComponentRow } from "./rows.ts";

export function goBack(draft: GroupDraft): void {
  if (draft.group.status !== "rolling_back") return;
  for (const component of draft.components.toReversed()) {
    if (!isBack(draft, component)) return; // (2)
  }
  const left = draft.components.filter(
    ({ status, counts, onTarget }) => status !== "rolled_back" && (counts.succeeded > 0 || onTarget > 0),
  );
  const broken = draft.components.reduce((sum, { counts }) => sum + counts.failed_rollback, 0);
  const unknown = draft.components.reduce((sum, component) => sum + component.unknown, 0);
  draft.move("rolled_back", {
    code: "ROLLED_BACK",
    text: [
      "every component is back on its previous version",
      ...(left.length === 0 ? [] : [`but not ${left.map(nameOf).join(", ")}: no rollback was signed for it`]),
      ...(broken === 0 ? [] : [`${broken} nodes need a person: see their incidents`]),
      ...(unknown === 0 ? [] : [`${unknown} nodes have not said what they run`]),
    ].join("; "),
  });
}

function isBack(draft: GroupDraft, component: ComponentRow): boolean {
  if (draft.isAsked(component) || component.status === "rolling_back") return false;
  if (canGoBack(component)) {
    if (!component.rollbackRequested) draft.ask(component, "rollback");
    return false;
  }
  if (hasEnded(component)) return true;
  if (!component.cancelRequested) draft.ask(component, "cancel"); // never begun, or not allowed to go back
  return false;
}
