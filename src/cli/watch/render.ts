/** The live picture: view and time in, text out. It fits a terminal of 24 lines, however many nodes there are. */
import { timeLeftMs } from "../../core/rollout/pace.ts";
import { isActive, type NodeUpgradeStatus } from "../../core/rollout/states.ts";
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
    [progressLine(nodes, paint), ...leftText(view, now)].join("  "),
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

/** The parts of the bar from the left. A sign of its own each: a terminal without colours tells them apart too. */
const BAR_PARTS = [
  { sign: "█", style: "green", statuses: ["succeeded"], words: null },
  { sign: "▒", style: "yellow", statuses: ["rolled_back"], words: "rolled back" },
  { sign: "✗", style: "red", statuses: ["failed", "failed_rollback"], words: "failed" },
  { sign: "-", style: "dim", statuses: ["skipped"], words: "skipped" },
] as const satisfies readonly {
  readonly sign: string;
  readonly style: Parameters<Paint>[0];
  readonly statuses: readonly NodeUpgradeStatus[];
  readonly words: string | null;
}[];

/** Only upgraded nodes are progress. A part with any node has at least one sign, as far as there is room. */
function progressLine(nodes: readonly WatchNode[], paint: Paint): string {
  const counted = BAR_PARTS.map((part) => ({
    ...part,
    count: nodes.filter(({ status }) => (part.statuses as readonly string[]).includes(status)).length,
  }));
  let room = BAR_CHARS;
  const parts = counted.map(({ sign, style, count }) => {
    const share = Math.floor((count / Math.max(1, nodes.length)) * BAR_CHARS);
    const chars = Math.min(room, count > 0 ? Math.max(1, share) : 0);
    room -= chars;
    return chars === 0 ? "" : paint(style, sign.repeat(chars));
  });
  const upgraded = counted[0]!.count;
  const share = nodes.length === 0 ? 0 : Math.floor((upgraded / nodes.length) * 100);
  const others = counted.flatMap(({ words, count }) =>
    words === null || count === 0 ? [] : [`${count} ${words}`],
  );
  const bar = `${parts.join("")}${"░".repeat(room)}`;
  return [`${bar} ${upgraded}/${nodes.length} nodes upgraded  ${share}%`, ...others].join(", ");
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
