/**
 * One step of a group of rollouts: rows in, changes out. It steers its components by their own signals and waits for
 * what they make of them.
 *
 * 1. A component begins only when every one before it has ended and the watch after the last is over (ROLL-11).
 * 2. On the way back a component begins only when every one after it has ended (ROLL-14).
 * 3. The group ends after all its components have.
 * 4. Calling it again with the rows it produced changes nothing until something new happens.
 */
import { applyGroupSignals } from "./apply-signals.ts";
import { GroupDraft } from "./draft.ts";
import { goBack } from "./go-back.ts";
import { goOn } from "./go-on.ts";
import type { GroupDecision, GroupRows } from "./rows.ts";

export function decideGroup(rows: GroupRows, now: number): GroupDecision {
  const draft = GroupDraft(rows);
  applyGroupSignals(draft, rows.signals);
  goOn(draft, now);
  goBack(draft);
  return draft.finish();
}
