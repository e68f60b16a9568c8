/**
 * A node's upgrades, action by action, told from its events: what happened, when, and why.
 *
 * 1. Progress is only news and may be lost on its way: an action without news that must have happened is done,
 *    without a time. Nothing is made up.
 *    Actions that were told together have one time, and nothing was measured between them.
 * 2. An attempt begins with a launch and ends with a verdict or a judgement; what comes after belongs to the next.
 */
import { z } from "zod";
import { isSettled, NodeUpgradeStatus } from "../rollout/states.ts";
import { UPGRADE_ACTIONS, UpgradePhase, type ActionName } from "./phases.ts";

/** In an operator's words. */
export const ACTION_WORDS: Readonly<Record<ActionName, string>> = {
  backup_state: "keep a copy of what runs now",
  acquire_artifact: "fetch the bytes",
  verify_artifact: "check the bytes against the signed fingerprint",
  stop_node: "stop the program",
  install_artifact: "put the bytes in place",
  write_configs: "write the config files",
  reload_daemon: "let the service manager read its files again",
  start_node: "start the program",
};

export type StepState = "done" | "running" | "failed" | "not_reached";

export interface TimelineStep {
  readonly action: ActionName;
  readonly state: StepState;
  /** Null: no news of it came. */
  readonly at: string | null;
  readonly ms: number | null;
}

export interface UpgradeAttempt {
  /** The id of its first event. */
  readonly id: number;
  readonly rolloutId: string | null;
  readonly direction: "forward" | "reverse";
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly status: NodeUpgradeStatus;
  readonly steps: readonly TimelineStep[];
  /** The health wait after the last action; null when it was not reached. */
  readonly observedFrom: string | null;
  readonly error: { readonly code: string; readonly text: string } | null;
}

export interface NodeEvent {
  readonly id: number;
  readonly at: string;
  readonly kind: string;
  readonly rollout_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

const Data = z.object({
  status: NodeUpgradeStatus,
  phase: UpgradePhase.nullable(),
  action: z.string().nullable(),
  error: z.object({ code: z.string(), text: z.string() }).nullish(),
  direction: z.enum(["forward", "reverse"]).optional(),
});
/** What came in one report is written at one time, give or take the writing. */
const TOLD_TOGETHER_MS = 5;

type Told = Omit<NodeEvent, "data"> & { readonly data: z.infer<typeof Data> };

/** Events of one node in their order; the newest attempt comes first. */
export function attemptsOf(events: readonly NodeEvent[]): UpgradeAttempt[] {
  const attempts: Told[][] = [];
  for (const event of events) {
    const data = event.kind === "node.upgrade" ? Data.safeParse(event.data) : undefined;
    if (data?.success !== true) continue;
    const told = { ...event, data: data.data };
    const current = attempts.at(-1);
    if (current === undefined || beginsAnew(current, told)) attempts.push([told]);
    else current.push(told);
  }
  return attempts
    .map((own, at) => attemptOf(own, attempts[at - 1]))
    .filter(({ status }) => status !== "skipped" && status !== "pending")
    .toReversed();
}

/** 2 */
function beginsAnew(current: readonly Told[], next: Told): boolean {
  const last = current.at(-1)!;
  if (last.rollout_id !== next.rollout_id || isSettled(last.data.status)) return true;
  const isLaunch = next.data.phase === "PREPARING" && next.data.action === null;
  return isLaunch && (last.data.phase !== "PREPARING" || last.data.action !== null);
}

function attemptOf(events: readonly Told[], before: readonly Told[] | undefined): UpgradeAttempt {
  const [first, last] = [events[0]!, events.at(-1)!];
  const observed = events.find(({ data }) => data.phase === "VERIFYING" && !isSettled(data.status));
  const replaced = !isSettled(last.data.status) && last.data.error != null;
  const ended = isSettled(last.data.status) || replaced ? last : null;
  return {
    id: first.id,
    rolloutId: first.rollout_id,
    direction: first.data.direction ?? directionAfter(first, before),
    startedAt: first.at,
    endedAt: ended?.at ?? null,
    status: last.data.status,
    steps: stepsOf(events, observed !== undefined || last.data.status === "succeeded"),
    observedFrom: observed?.at ?? null,
    error: events.findLast(({ data }) => data.error != null)?.data.error ?? null,
  };
}

/** What stood on the target and begins again in the same rollout goes back; what failed tries once more. */
function directionAfter(first: Told, before: readonly Told[] | undefined): "forward" | "reverse" {
  if (before === undefined || before[0]!.rollout_id !== first.rollout_id) return "forward";
  return before.some(({ data }) => data.phase === "VERIFYING" || data.status === "succeeded")
    ? "reverse"
    : "forward";
}

function stepsOf(events: readonly Told[], allDone: boolean): TimelineStep[] {
  const reached = Math.max(-1, ...events.map(({ data }) => indexOf(data.action)));
  const settled = isSettled(events.at(-1)!.data.status);
  return UPGRADE_ACTIONS.map(({ name }, index) => {
    const heard = events.findIndex(({ data }) => data.action === name && !isSettled(data.status));
    const at = heard === -1 ? null : events[heard]!.at;
    const until =
      heard === -1
        ? undefined
        : events.slice(heard + 1).find(({ data }) => data.action !== name || isSettled(data.status));
    const ms = at === null || until === undefined ? null : measured(at, until.at);
    if (allDone || index < reached) return { action: name, state: "done", at, ms }; // 1
    if (index > reached) return { action: name, state: "not_reached", at: null, ms: null };
    return { action: name, state: settled ? "failed" : "running", at, ms };
  });
}

function measured(from: string, to: string): number | null {
  const ms = Date.parse(to) - Date.parse(from);
  return ms < TOLD_TOGETHER_MS ? null : ms; // 1
}

const indexOf = (action: string | null): number => UPGRADE_ACTIONS.findIndex(({ name }) => name === action);
