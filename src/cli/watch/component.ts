/** The component of a group that is under way: its nodes, and the pace of its batches between two readings. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { NO_PACE, paceAfter } from "../../core/rollout/pace.ts";
import { isActive } from "../../core/rollout/states.ts";
import type { Api } from "../api.ts";
import { isTransient } from "../events/transient.ts";
import { listUpgrades } from "../pages.ts";
import { nodeOf, type WatchView } from "./model.ts";

/** More are read by `rollout watch`, which is told of changes and does not ask for all of them each second. */
export const NODES_READ_MAX = 1_000;

export function componentWatch(api: Api) {
  let seen: WatchView | null = null;

  /** As it is now; with the nodes of before while the server cannot be asked. */
  return async function read(group: GroupView, now: number): Promise<WatchView | null> {
    const rollout = underWay(group);
    if (rollout === undefined) return (seen = null);
    const before = seen?.rollout.id === rollout.id ? seen : null;
    const nodes = (await nodesOf(api, rollout)) ?? before?.nodes ?? [];
    return (seen = { rollout, nodes, pace: paceOf(before, rollout, now), lost: null });
  };
}

const underWay = ({ components }: GroupView): RolloutView | undefined =>
  components.map(({ rollout }) => rollout).find(({ status }) => isActive(status) && status !== "pending");

async function nodesOf(api: Api, rollout: RolloutView): Promise<WatchView["nodes"] | null> {
  if (rollout.counters.total > NODES_READ_MAX) return [];
  try {
    return (await listUpgrades(api, rollout.id)).map(nodeOf);
  } catch (error) {
    if (isTransient(error)) return null; // the reading of the group tells of it
    throw error;
  }
}

function paceOf(before: WatchView | null, rollout: RolloutView, at: number): WatchView["pace"] {
  const { status, current_batch: batch } = rollout;
  const moved = before?.rollout.status !== status;
  const pace = moved ? paceAfter(before?.pace ?? NO_PACE, { kind: "status", at, to: status }) : before.pace;
  const opened = batch >= 0 && (before?.rollout.current_batch !== batch || pace.open === null);
  return opened ? paceAfter(pace, { kind: "batch", at, batch }) : pace;
}
