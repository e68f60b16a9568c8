/** The gate behind a component, in words. */
import type { GroupView } from "../../../core/protocol/group-api.ts";
import { durationText, untilText } from "../../ui/time-text.ts";
import type { IconName, Tone } from "../../ui/tones.ts";

interface GateLine {
  readonly tone: Tone;
  readonly icon: IconName;
  readonly text: string;
}

export function gateOf(group: GroupView, after: number, now: number): GateLine {
  const next = group.components[after + 1]!.rollout;
  const wait = durationText(group.health_wait_seconds * 1_000);
  if (group.gate_until !== null && group.current_component === after) {
    // The page's clock ticks once a second: what is left is never more than the whole.
    const begun = Math.max(now, Date.parse(group.gate_until) - group.health_wait_seconds * 1_000);
    const left = untilText(group.gate_until, begun);
    const text =
      left === null ? "Health is being judged" : `Health is watched for another ${left} of ${wait}`;
    return { tone: "info", icon: "eye", text };
  }
  if (next.started_at !== null) return { tone: "good", icon: "check", text: "Healthy: the next one began" };
  if (next.status === "cancelled") return { tone: "neutral", icon: "dash", text: "The next one never began" };
  return { tone: "neutral", icon: "circle", text: `Then health is watched for ${wait}` };
}
