/** What changed between two readings of a group, one plain line each: for logs and for `grep`. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import { printable } from "../output.ts";

type Component = GroupView["components"][number];

export function groupLines(before: GroupView | null, now: GroupView): string[] {
  const lines = [
    ...(before?.status === now.status ? [] : [`group ${now.status}${whyText(now.why)}`]),
    ...(now.gate_until === null || before?.gate_until === now.gate_until
      ? []
      : [`gate after component ${now.current_component + 1} until ${now.gate_until}`]),
    ...now.components.flatMap((component, at) => componentLines(before?.components[at], component)),
  ];
  return lines.map(printable);
}

function componentLines(before: Component | undefined, { component_index, binary_name, rollout }: Component) {
  const name = `component ${component_index + 1} ${binary_name}`;
  const [was, is] = [before?.rollout, rollout];
  const lines: string[] = [];
  if (was?.status !== is.status)
    lines.push(`${name} ${is.status}${whyText(is.status === "paused" ? is.why : null)}`);
  if (was !== undefined && was.current_batch !== is.current_batch)
    lines.push(`${name} batch ${is.current_batch + 1} of ${is.batch_count}`);
  const failed = (counted: Component["rollout"]) =>
    counted.counters.failed + counted.counters.failed_rollback;
  if (failed(is) > (was === undefined ? 0 : failed(was))) lines.push(`${name} ${failed(is)} nodes failed`);
  return lines;
}

const whyText = (why: GroupView["why"]): string => (why === null ? "" : `  ${why.code}: ${why.text}`);
