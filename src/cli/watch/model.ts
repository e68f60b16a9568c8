/** A rollout as it is seen while it runs: the server's first answer, brought forward by its events. No IO, no clock. */
import type { NodeUpgradeView, RolloutView } from "../../core/protocol/operator-api.ts";
import type { EventView } from "../../core/protocol/operator-api.ts";
import { NO_PACE, paceAfter, type Pace } from "../../core/rollout/pace.ts";
import { isActive, isSettled } from "../../core/rollout/states.ts";
import { knownEvent, type Why } from "../events/data.ts";

export interface WatchNode {
  readonly name: string;
  readonly batch: number;
  readonly status: NodeUpgradeView["status"];
  readonly phase: string | null;
  readonly action: string | null;
  /** At work, and not heard of. */
  readonly isSilent: boolean;
  readonly error: Why | null;
}

export interface WatchView {
  readonly rollout: RolloutView;
  readonly nodes: readonly WatchNode[];
  readonly pace: Pace;
  /** Why the events do not come at the moment. */
  readonly lost: string | null;
}

export interface WatchModel {
  apply(event: EventView): void;
  /** The server's newer answer: reasons and waits are not in the events. */
  refresh(rollout: RolloutView): void;
  replaceNodes(nodes: readonly NodeUpgradeView[]): void;
  connection(lost: string | null): void;
  nameOf(nodeId: string): string;
  view(): WatchView;
}

export function watchModel(first: RolloutView, upgrades: readonly NodeUpgradeView[]): WatchModel {
  let rollout = first;
  let lost: string | null = null;
  let pace = NO_PACE;
  const nodes = new Map<string, WatchNode>();
  const replaceNodes = (views: readonly NodeUpgradeView[]): void => {
    for (const view of views) nodes.set(view.node_id, nodeOf(view));
  };
  const nameOf = (nodeId: string): string => nodes.get(nodeId)?.name ?? nodeId.slice(0, 8);
  replaceNodes(upgrades);

  return {
    nameOf,
    replaceNodes,
    refresh: (newer) => void (rollout = newer),
    connection: (why) => void (lost = why),
    view: () => ({ rollout, nodes: [...nodes.values()], pace, lost }),
    apply(event) {
      const known = knownEvent(event);
      const at = Date.parse(event.at);
      if (known.kind === "rollout.status") {
        pace = paceAfter(pace, { kind: "status", at, to: known.to });
        const ended_at = isActive(known.to) ? rollout.ended_at : (rollout.ended_at ?? event.at);
        const started_at = known.to === "running" ? (rollout.started_at ?? event.at) : rollout.started_at;
        // The past comes first, and what is known of the present is not worth less for it.
        const why = known.why ?? (known.to === rollout.status ? rollout.why : null);
        rollout = { ...rollout, status: known.to, why, started_at, ended_at };
      } else if (known.kind === "rollout.batch") {
        pace = paceAfter(pace, { kind: "batch", at, batch: known.batch });
        rollout = { ...rollout, current_batch: known.batch };
      } else if (known.kind === "node.upgrade") {
        const { status, phase, waitingFor, error } = known;
        const action = waitingFor === undefined ? known.action : waitingText(waitingFor);
        const before = nodes.get(known.nodeId);
        // The error comes once, with the change that it caused, and stands until the node is well again.
        const standing =
          status === "succeeded" || status === "pending" ? null : (error ?? before?.error ?? null);
        const shown = isSettled(status) ? { phase: null, action: null } : { phase, action };
        const where = { name: nameOf(known.nodeId), batch: before?.batch ?? rollout.current_batch };
        const isSilent = !isSettled(status) && before?.isSilent === true;
        nodes.set(known.nodeId, { ...where, status, ...shown, isSilent, error: standing });
      } else if (known.kind === "node.silence") {
        const before = nodes.get(known.nodeId);
        if (before !== undefined) nodes.set(known.nodeId, { ...before, isSilent: known.isSilent });
      }
    },
  };
}

const waitingText = (profile: string): string => `waiting for ${profile}`;

export const nodeOf = (view: NodeUpgradeView): WatchNode => ({
  name: view.node_name,
  batch: view.batch_index,
  status: view.status,
  phase: view.upgrade_phase,
  action: isSettled(view.status)
    ? null
    : view.waiting_for === null
      ? view.action_name
      : waitingText(view.waiting_for),
  isSilent: view.silent_since !== null,
  error: view.error_code === null ? null : { code: view.error_code, text: view.error_message ?? "" },
});
