/** The live picture: view and time in, text out. It fits a terminal of 24 lines, however many nodes there are. */
import { timeLeftMs } from "../../core/rollout/pace.ts";
import { isActive, isSettled } from "../../core/rollout/states.ts";
import { durationText } from "../duration.ts";
import { printable, type Paint } from "../output.ts";
import { statusText } from "../rollout-text.ts";
import { clip } from "./clip.ts";
import { groupNodes, groupText } from "./group.ts";
import { NODE_MARKS, STATUS_STYLE } from "./marks.ts";
import type { WatchNode, WatchView } from "./model.ts";
import { nextStep } from "./next-step.ts";

const BAR_CHARS = 30;
const BATCHES_DRAWN_MAX = 24;
const GROUPS_SHOWN_MAX = 15;

export function renderWatch(view: WatchView, now: number, paint: Paint, width: number): string {
  const { rollout, nodes, lost } = view;
  const versions = `${rollout.source_version} → ${rollout.target_version}`;
  const status = paint(STATUS_STYLE[rollout.status] ?? "bold", statusText(rollout));
  const title = `${paint("bold", `rollout ${rollout.id.slice(0, 8)}`)}  ${rollout.chain_profile_id} ${versions}`;
  const groups = groupNodes(nodes);
  const hidden = groups.slice(GROUPS_SHOWN_MAX);
  const next = nextStep(rollout);
  return [
    `${title}  ${status}  ${paint("dim", elapsed(view, now))}`,
    [progressLine(nodes), ...leftText(view, now)].join("  "),
    clip(batchLine(rollout.batch_count, rollout.current_batch, nodes), width),
    ...groups.slice(0, GROUPS_SHOWN_MAX).map((group) => {
      const [mark, style] = NODE_MARKS[group.status];
      return `  ${paint(style, mark)} ${clip(groupText(group), width - 4)}`;
    }),
    ...(hidden.length === 0 ? [] : [`    and ${hidden.flatMap((group) => group.names).length} more nodes`]),
    ...(rollout.why === null ? [] : [`why: ${clip(`${rollout.why.code}: ${rollout.why.text}`, width - 5)}`]),
    ...(next === null ? [] : [`next: ${clip(next, width - 6)}`]),
    ...(lost === null ? [] : [paint("yellow", `no connection, trying again: ${printable(lost)}`)]),
  ].join("\n");
}

function elapsed({ rollout }: WatchView, now: number): string {
  if (rollout.started_at === null) return "not started";
  const end = isActive(rollout.status) || rollout.ended_at === null ? now : Date.parse(rollout.ended_at);
  return durationText(end - Date.parse(rollout.started_at));
}

/** Only while it moves: a pause takes as long as a person does. */
export function leftText({ rollout, pace }: Pick<WatchView, "rollout" | "pace">, now: number): string[] {
  if (rollout.status !== "running" && rollout.status !== "rolling_back") return [];
  const left = timeLeftMs(pace, rollout, now);
  return [`time left ${left === null ? "unknown" : `about ${durationText(left)}`}`];
}

function progressLine(nodes: readonly WatchNode[]): string {
  const done = nodes.filter((node) => isSettled(node.status)).length;
  const share = nodes.length === 0 ? 0 : done / nodes.length;
  const filled = Math.floor(share * BAR_CHARS);
  const bar = `${"█".repeat(filled)}${"░".repeat(BAR_CHARS - filled)}`;
  return `${bar} ${done}/${nodes.length} nodes  ${Math.floor(share * 100)}%`;
}

/** One mark per batch while they fit on a line; else how many of each. */
function batchLine(count: number, current: number, nodes: readonly WatchNode[]): string {
  const head = `batch ${Math.max(0, Math.min(current + 1, count))} of ${count}`;
  const byBatch = Map.groupBy(nodes, (node) => node.batch);
  const marks = Array.from({ length: count }, (_, batch) => batchMark(byBatch.get(batch) ?? []));
  if (count <= BATCHES_DRAWN_MAX) return `${head}  ${marks.join(" ")}`;
  const counted = [...Map.groupBy(marks, (mark) => mark)].map(([mark, all]) => `${mark} ${all.length}`);
  return `${head}  ${counted.join("  ")}`;
}

function batchMark(nodes: readonly WatchNode[]): string {
  if (nodes.some((node) => node.status === "in_progress")) return "▶";
  if (nodes.every((node) => node.status === "succeeded")) return "✔";
  if (nodes.every((node) => node.status === "pending")) return "·";
  if (nodes.every((node) => node.status === "skipped")) return "-";
  return nodes.some((node) => node.status === "failed" || node.status === "failed_rollback") ? "✗" : "↺";
}
