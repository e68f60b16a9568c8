/** The line under a group's title: never empty, so it never pushes the page down when it gets something to say. */
import { nextOf } from "../../../core/errors.ts";
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { untilText } from "../../ui/time-text.ts";
import { GROUP_LOOKS } from "../../ui/tones.ts";
import type { WhyText } from "../rollout/why.ts";

export function groupWhy(group: GroupView, now: number): WhyText {
  const { tone } = GROUP_LOOKS[group.status];
  const { why } = group;
  if (why === null) return { tone, code: null, text: restText(group), next: null };
  const next = nextOf(why.code);
  const text = why.code === "WATCHING_COMPONENT" ? watching(group, now) : why.text;
  return { tone, code: why.code, text, next };
}

/** The server names an instant; a person waits for a length of time. */
function watching({ components, current_component, gate_until }: GroupView, now: number): string {
  const left = gate_until === null ? null : untilText(gate_until, now);
  const name = components[current_component]?.binary_name ?? "the component";
  return `${name} is upgraded; ${left === null ? "its health is being judged" : `it is watched for another ${left}`}`;
}

function restText({ status, components, current_component }: GroupView): string {
  const done = components.filter(({ rollout }) => rollout.status === "completed").length;
  const counted = `${done} of ${components.length} components completed`;
  if (status === "pending") return "created; start it when ready";
  const current = components[current_component];
  return status === "running" && current !== undefined
    ? `${current.binary_name} is under way; ${counted}`
    : counted;
}
