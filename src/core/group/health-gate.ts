/** The watch over a completed component before the next begins: its nodes must still be well at the end of it. */
import { LIMITS } from "../limits.ts";
import { judgeHealth } from "../rollout/health.ts";
import type { GroupDraft } from "./draft.ts";
import type { ComponentRow } from "./rows.ts";

export type Watched =
  | { readonly kind: "watching" }
  | { readonly kind: "well" }
  | { readonly kind: "unhealthy"; readonly reason: string };

export function watchComponent(draft: GroupDraft, component: ComponentRow, now: number): Watched {
  const { group, gate, availableSince } = draft;
  if (group.gateUntil === null) {
    group.gateUntil = now + group.healthWaitMs;
    const { index, id } = component;
    draft.events.push({ kind: "group.component", component: index, rolloutId: id, asked: "watch" });
  }
  // A clock that was ahead has set the end too late: no watch is longer than itself.
  group.gateUntil = Math.min(group.gateUntil, now + group.healthWaitMs);
  const due = group.gateUntil;
  if (now < due || gate.length < component.counts.succeeded) {
    draft.lookAgainAt(Math.max(due, now + 1)); // the nodes are read when the watch is over
    return { kind: "watching" };
  }
  const wait = { startedAt: 0, due, availableSince };
  const verdicts = gate.map(({ facts, target }) => judgeHealth(facts, wait, target, now));
  const unhealthy = verdicts.filter((verdict) => verdict.kind === "unhealthy");
  if (unhealthy.length > 0)
    return {
      kind: "unhealthy",
      reason: `${unhealthy.length} of its nodes are not well: ${unhealthy[0]!.reason}`,
    };
  if (verdicts.some((verdict) => verdict.kind === "waiting")) {
    draft.lookAgainAt(now + LIMITS.healthRecheckMs);
    return { kind: "watching" };
  }
  return { kind: "well" };
}
