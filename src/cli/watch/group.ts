/** Nodes that have the same to tell become one line: a fleet of thousands fits a screen. */
import type { NodeUpgradeStatus } from "../../core/rollout/states.ts";
import { UPGRADE_ACTIONS } from "../../core/upgrade/phases.ts";
import type { Why } from "../events/data.ts";
import type { WatchNode } from "./model.ts";

export interface NodeGroup {
  readonly names: readonly string[];
  readonly status: NodeUpgradeStatus;
  readonly phase: string | null;
  readonly action: string | null;
  readonly isSilent: boolean;
  readonly error: Why | null;
}

/** What needs a person stands first. */
const ORDER: Readonly<Record<NodeUpgradeStatus, number>> = {
  failed_rollback: 0,
  failed: 1,
  rolled_back: 2,
  in_progress: 3,
  succeeded: 4,
  pending: 5,
  skipped: 6,
};

export function groupNodes(nodes: readonly WatchNode[]): NodeGroup[] {
  const groups = new Map<string, WatchNode[]>();
  for (const node of nodes) {
    const key = JSON.stringify([
      node.status,
      node.phase,
      node.action,
      node.isSilent,
      node.error?.code,
      node.error?.text,
    ]);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [node]);
    else group.push(node);
  }
  return [...groups.values()]
    .map((members) => {
      const { status, phase, action, isSilent, error } = members[0]!;
      return { names: members.map((node) => node.name).toSorted(), status, phase, action, isSilent, error };
    })
    .toSorted(byUrgency);
}

function byUrgency(a: NodeGroup, b: NodeGroup): number {
  const byStatus = ORDER[a.status] - ORDER[b.status];
  if (byStatus !== 0) return byStatus;
  const byAction = stepOf(b) - stepOf(a);
  return byAction === 0 ? (a.names[0]! < b.names[0]! ? -1 : 1) : byAction;
}

/** Further along stands higher; verifying comes after every action. */
function stepOf({ phase, action }: NodeGroup): number {
  if (phase === "VERIFYING") return UPGRADE_ACTIONS.length;
  return UPGRADE_ACTIONS.findIndex(({ name }) => name === action);
}

export function groupText({ names, status, phase, action, isSilent, error }: NodeGroup): string {
  const who = names.length === 1 ? names[0]! : `${names.length} nodes`;
  const where = [phase, action].filter((word) => word !== null).join(" ");
  return [
    `${who} ${status.replaceAll("_", " ")}${isSilent ? ", silent" : ""}`,
    ...(where === "" ? [] : [where]),
    ...(error === null ? [] : [`${error.code}: ${error.text}`]),
  ].join("  ");
}
