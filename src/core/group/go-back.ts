/** The way back of a group: the last component first, each whole before the one before it (ROLL-14). */
import { canGoBack, hasEnded, nameOf } from "./components.ts";
import type { GroupDraft } from "./draft.ts";
import type { ComponentRow } from "./rows.ts";

export function goBack(draft: GroupDraft): void {
  if (draft.group.status !== "rolling_back") return;
  for (const component of draft.components.toReversed()) {
    if (!isBack(draft, component)) return; // (2)
  }
  draft.move("rolled_back", { code: "ROLLED_BACK", text: endText(draft.components) });
}

function endText(components: readonly ComponentRow[]): string {
  const sum = (count: (component: ComponentRow) => number): number =>
    components.reduce((total, component) => total + count(component), 0);
  const left = components.filter(({ onNew }) => onNew > 0);
  const broken = sum(({ counts }) => counts.failed_rollback);
  const unknown = sum((component) => component.unknown);
  if (left.length + broken + unknown === 0) return "every component is back on its previous version";
  return [
    `${sum(({ counts }) => counts.rolled_back)} nodes are back on their previous version`,
    ...left.map(
      (component) => `${component.onNew} nodes of ${nameOf(component)} are not: ${whyLeft(component)}`,
    ),
    ...(broken === 0 ? [] : [`${broken} nodes need a person: see their incidents`]),
    ...(unknown === 0 ? [] : [`${unknown} nodes have not said what they run`]),
  ].join("; ");
}

const whyLeft = ({ rollbackAllowed }: ComponentRow): string =>
  rollbackAllowed
    ? "no previous version is recorded, or the node was revoked"
    : "no rollback was signed for it";

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
