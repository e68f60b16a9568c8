/** The live picture of a group: its components in order, the gate between them, and what an operator may do. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import { awaitedSignal } from "../../core/rollout/members.ts";
import { groupEnded } from "../group/ending.ts";
import { gateText, groupStatusText } from "../group/text.ts";
import { durationText } from "../duration.ts";
import { printable, type Paint } from "../output.ts";
import { statusText } from "../rollout-text.ts";
import { clip } from "./clip.ts";
import { NODES_READ_MAX } from "./component.ts";
import { groupNodes, groupText } from "./group.ts";
import { NODE_MARKS, ROLLOUT_MARKS, STATUS_STYLE } from "./marks.ts";
import type { WatchView } from "./model.ts";
import { groupNextStep, nextStep } from "./next-step.ts";
import { leftText } from "./render.ts";

/** Of what stands around the components, none is ever cut: a terminal of 24 lines holds all of it. */
const COMPONENTS_SHOWN_MAX = 11;
const NODE_LINES_MAX = 5;

export interface SeenGroup {
  readonly group: GroupView;
  /** The component that is under way. */
  readonly at: WatchView | null;
  readonly lost: string | null;
}

export function renderGroup(
  { group, at, lost }: SeenGroup,
  now: number,
  paint: Paint,
  width: number,
): string {
  const title = `${paint("bold", `group ${group.id.slice(0, 8)}`)}  ${group.chain_profile_id}  ${group.failure_policy}`;
  const status = paint(STATUS_STYLE[group.status] ?? "bold", groupStatusText(group));
  const from = Math.max(
    0,
    Math.min(group.current_component - 2, group.components.length - COMPONENTS_SHOWN_MAX),
  );
  const shown = group.components.slice(from, from + COMPONENTS_SHOWN_MAX);
  const hidden = group.components.length - shown.length;
  const waits = waitingFor(group);
  return [
    `${title}  ${status}  ${paint("dim", elapsed(group, now))}`,
    ...shown.flatMap((component) => [
      componentLine(component, viewOf(at, component), now, paint, width),
      ...nodeLines(viewOf(at, component), paint, width),
      ...gateLine(group, component.component_index, now, width),
    ]),
    ...(hidden === 0 ? [] : [`    and ${hidden} more components`]),
    ...(group.why === null ? [] : [`why: ${clip(`${group.why.code}: ${group.why.text}`, width - 5)}`]),
    ...(waits === null ? [] : [`next: ${clip(waits, width - 6)}`]),
    ...(lost === null ? [] : [paint("yellow", `no connection, trying again: ${printable(lost)}`)]),
  ].join("\n");
}

type Component = GroupView["components"][number];

const viewOf = (at: WatchView | null, { rollout }: Component): WatchView | null =>
  at?.rollout.id === rollout.id ? at : null;

/** Those that are at work or need a person; how many are done stands beside the component. */
function nodeLines(view: WatchView | null, paint: Paint, width: number): string[] {
  if (view === null) return [];
  const { total } = view.rollout.counters;
  if (total > NODES_READ_MAX)
    return [`      its ${total} nodes: fairlead rollout watch ${view.rollout.id.slice(0, 8)}`];
  const groups = groupNodes(view.nodes.filter(({ status }) => !QUIET.includes(status)));
  const hidden = groups.slice(NODE_LINES_MAX - 1).flatMap(({ names }) => names).length;
  const shown = groups.length > NODE_LINES_MAX ? groups.slice(0, NODE_LINES_MAX - 1) : groups;
  return [
    ...shown.map((group) => {
      const [mark, style] = NODE_MARKS[group.status];
      return `      ${paint(style, mark)} ${clip(groupText(group), width - 8)}`;
    }),
    ...(shown.length === groups.length ? [] : [`        and ${hidden} more nodes`]),
  ];
}

const QUIET: readonly string[] = ["pending", "succeeded", "skipped"];

function componentLine(
  { component_index, binary_name, rollout }: Component,
  view: WatchView | null,
  now: number,
  paint: Paint,
  width: number,
): string {
  const [mark, style] = ROLLOUT_MARKS[rollout.status];
  const { succeeded, total, failed, failed_rollback } = rollout.counters;
  const bad = failed + failed_rollback;
  const words = [
    `${component_index + 1} ${binary_name}`,
    `${rollout.source_version} → ${rollout.target_version}`,
    statusText(rollout),
    ...(rollout.status === "running" ? [`batch ${rollout.current_batch + 1} of ${rollout.batch_count}`] : []),
    `${succeeded}/${total} nodes${bad === 0 ? "" : `, ${bad} failed`}`,
    ...(view === null ? [] : leftText(view, now)),
    ...(rollout.status === "paused" && rollout.why !== null
      ? [`${rollout.why.code}: ${rollout.why.text}`]
      : []),
  ];
  return `  ${paint(style, mark)} ${clip(words.join("  "), width - 4)}`;
}

function gateLine(group: GroupView, index: number, now: number, width: number): string[] {
  const gate = index === group.current_component ? gateText(group, now) : null;
  return gate === null ? [] : [`    ${clip(`gate: ${gate}`, width - 4)}`];
}

/** A component that waits for a person comes before the group around it. */
function waitingFor(group: GroupView): string | null {
  const waiting = group.components.find(
    ({ rollout: { status, why } }) => awaitedSignal({ status, whyCode: why?.code ?? null }) !== null,
  );
  if (waiting !== undefined && !groupEnded(group.status)) return nextStep(waiting.rollout);
  return groupNextStep(group);
}

function elapsed(group: GroupView, now: number): string {
  if (group.started_at === null) return "not started";
  const end = groupEnded(group.status) && group.ended_at !== null ? Date.parse(group.ended_at) : now;
  return durationText(end - Date.parse(group.started_at));
}
