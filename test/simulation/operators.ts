/**
 * Operators: some ask for odd things at odd times, one looks at what is paused sooner or later. What the API would
 * refuse is refused here too, by the same function, but now and then a signal slips in that no longer fits.
 */
import { refusalOf } from "../../src/core/rollout/allow.ts";
import { componentTakes } from "../../src/core/rollout/members.ts";
import type { RolloutRow } from "../../src/core/rollout/rows.ts";
import { isActive, SIGNALS, type SignalKind } from "../../src/core/rollout/states.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import type { World } from "./fleet.ts";

const MINUTE_MS = 60_000;
const RENEWS: readonly SignalKind[] = ["resume", "approve_canary", "rollback", "retry"];

export interface Operated {
  readonly table: RolloutTable;
  /** When it was created. */
  readonly from: number;
  readonly nudge: (at: number) => void;
  /** Before one that has ended begins to go back: its profile must be free, its nodes where it left them. */
  readonly mayReopen: () => boolean;
  readonly isComponent: boolean;
}

export const isOpenToMember = ({ status, why }: RolloutRow, kind: SignalKind): boolean =>
  componentTakes({ status, whyCode: why?.code ?? null }, kind);

export function operate({ time, random, server }: World, operated: Operated): void {
  const { table, from, nudge, mayReopen, isComponent } = operated;

  function ask(kind: SignalKind, now: number): void {
    const rollout = table.rollout();
    const closed = rollout.intentNotAfter !== null && rollout.intentNotAfter <= now;
    if (isComponent && !isOpenToMember(rollout, kind)) return;
    const facts = { ...rollout, whyCode: rollout.why?.code ?? null, hasOnTarget: table.hasOnTarget() };
    const refused = refusalOf(facts, kind) !== null;
    if (refused && !random.chance(0.1)) return;
    if (kind === "rollback" && !isActive(rollout.status) && !mayReopen()) return;
    if (closed && RENEWS.includes(kind) && !table.statuses().includes("in_progress") && random.chance(0.8))
      table.renewIntent(now + 60 * MINUTE_MS);
    else if (closed && (kind === "rollback" || kind === "retry")) return;
    const one = kind === "skip" || (kind === "retry" && random.chance(0.5));
    table.signal(kind, null, one ? random.pick(table.nodes).nodeId : null);
    nudge(now);
  }

  /** What somebody does who has read why it waits. */
  function look(now: number): void {
    const { status, why } = table.rollout();
    if (status === "pending" && !isComponent) return ask("start", now);
    if (status === "rolling_back" && why?.code === "INTENT_EXPIRED") return ask("rollback", now);
    if (!isActive(status)) return random.chance(0.08) ? ask("rollback", now) : undefined;
    if (status !== "paused") return;
    const choices: readonly SignalKind[] =
      why?.code === "CANARY_APPROVAL"
        ? ["approve_canary", "approve_canary", "resume", "rollback", "cancel"]
        : ["resume", "resume", "retry", "force", "rollback", "cancel"];
    ask(random.pick(choices), now);
  }

  const at = (when: number, run: (now: number) => void): void =>
    time.after(when, (now) => time.after(server.reachableAt(now), run));
  if (!isComponent) at(from, (now) => ask("start", now));
  for (let odd = random.below(7); odd > 0; odd--)
    at(from + random.below(150 * MINUTE_MS), (now) => ask(random.pick(SIGNALS), now));
  for (let looks = random.below(16); looks > 0; looks--) at(from + looks * 40 * MINUTE_MS, look);
}
