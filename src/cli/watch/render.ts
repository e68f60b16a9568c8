/** The live picture: view and time in, text out. */
import {
  isActive,
  isSettled,
  type NodeUpgradeStatus,
  type RolloutStatus,
} from "../../core/rollout/states.ts";
import { durationText } from "../duration.ts";
import { printable, type Paint } from "../output.ts";
import { statusText } from "../rollout-text.ts";
import { groupNodes, groupText } from "./group.ts";
import type { WatchNode, WatchView } from "./model.ts";

const BAR_CHARS = 30;
const BATCHES_DRAWN_MAX = 40;
const GROUPS_SHOWN_MAX = 15;

type Style = Parameters<Paint>[0];

const MARKS: Readonly<Record<NodeUpgradeStatus, readonly [mark: string, style: Style]>> = {
  pending: ["·", "dim"],
  in_progress: ["▶", "cyan"],
  succeeded: ["✔", "green"],
  failed: ["✗", "red"],
  rolled_back: ["↺", "yellow"],
  failed_rollback: ["✗", "red"],
  skipped: ["-", "dim"],
};

const STATUS_STYLE: Readonly<Partial<Record<RolloutStatus, Style>>> = {
  completed: "green",
  failed: "red",
  cancelled: "yellow",
  paused: "yellow",
  running: "cyan",
};

export function renderWatch(view: WatchView, now: number, paint: Paint): string {
  const { rollout, nodes, lost } = view;
  const versions = `${rollout.source_version} → ${rollout.target_version}`;
  const status = paint(STATUS_STYLE[rollout.status] ?? "bold", statusText(rollout));
  const title = `${paint("bold", `rollout ${rollout.id.slice(0, 8)}`)}  ${rollout.chain_profile_id} ${versions}`;
  const groups = groupNodes(nodes);
  const hidden = groups.slice(GROUPS_SHOWN_MAX);
  return [
    `${title}  ${status}  ${paint("dim", elapsed(view, now))}`,
    progressLine(nodes),
    batchLine(rollout.batch_count, rollout.current_batch, nodes),
    ...groups.slice(0, GROUPS_SHOWN_MAX).map((group) => {
      const [mark, style] = MARKS[group.status];
      return `  ${paint(style, mark)} ${printable(groupText(group))}`;
    }),
    ...(hidden.length === 0 ? [] : [`    and ${hidden.flatMap((group) => group.names).length} more nodes`]),
    ...(rollout.why === null ? [] : [`why: ${printable(`${rollout.why.code}: ${rollout.why.text}`)}`]),
    ...(lost === null ? [] : [paint("yellow", `no connection, trying again: ${printable(lost)}`)]),
  ].join("\n");
}

function elapsed({ rollout }: WatchView, now: number): string {
  if (rollout.started_at === null) return "not started";
  const end = isActive(rollout.status) || rollout.ended_at === null ? now : Date.parse(rollout.ended_at);
  return durationText(end - Date.parse(rollout.started_at));
}

function progressLine(nodes: readonly WatchNode[]): string {
  const done = nodes.filter((node) => isSettled(node.status)).length;
  const share = nodes.length === 0 ? 0 : done / nodes.length;
  const filled = Math.floor(share * BAR_CHARS);
  const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)}`;
  return `${bar} ${done}/${nodes.length} nodes  ${Math.floor(share * 100)}%`;
}

/** One mark per batch, while they fit on a line. */
function batchLine(count: number, current: number, nodes: readonly WatchNode[]): string {
  const head = `batch ${Math.min(current + 1, count)} of ${count}`;
  if (count > BATCHES_DRAWN_MAX) return head;
  const marks = Array.from({ length: count }, (_, batch) =>
    batchMark(nodes.filter((node) => node.batch === batch)),
  );
  return `${head}  ${marks.join(" ")}`;
}

function batchMark(nodes: readonly WatchNode[]): string {
  if (nodes.some((node) => node.status === "in_progress")) return "▶";
  if (nodes.every((node) => node.status === "succeeded")) return "✔";
  if (nodes.every((node) => node.status === "pending")) return "·";
  return nodes.every((node) => node.status === "skipped") ? "-" : "✗";
}
