/** The line under the title: never empty, so it never pushes the page down when it gets something to say. */
import { nextOf } from "../../../core/errors.ts";
import type { RolloutView } from "../../../core/protocol/operator-api.ts";
import { durationText, untilText } from "../../ui/time-text.ts";
import { ROLLOUT_LOOKS, type Tone } from "../../ui/tones.ts";

export interface WhyText {
  readonly tone: Tone;
  readonly code: string | null;
  readonly text: string;
  readonly next: string | null;
}

export function whyText(rollout: RolloutView, now: number): WhyText {
  const { tone } = ROLLOUT_LOOKS[rollout.status];
  const { why } = rollout;
  if (why === null) return { tone, code: null, text: restText(rollout), next: null };
  return {
    tone,
    code: why.code,
    text: textOf(rollout, why, now),
    next: nextOf(why.code),
  };
}

function textOf(rollout: RolloutView, why: NonNullable<RolloutView["why"]>, now: number): string {
  if (why.code === "OBSERVING_HEALTH") return observing(rollout, now);
  // Nobody starts a component but its group.
  return why.code === "NOT_STARTED" && rollout.group_id !== null
    ? "waits for its turn in its group"
    : why.text;
}

/** The server names an instant; a person waits for a length of time. */
function observing(rollout: RolloutView, now: number): string {
  const left = rollout.health_until === null ? null : untilText(rollout.health_until, now);
  const batch = `batch ${rollout.current_batch + 1} of ${rollout.batch_count} is installed`;
  return left === null
    ? `${batch}; its health is being judged`
    : `${batch}; its health is observed for another ${left}`;
}

function restText({ status, started_at, ended_at, counters }: RolloutView): string {
  if (status === "running") return `${counters.in_progress} nodes at work`;
  if (started_at === null || ended_at === null) return ROLLOUT_LOOKS[status].label.toLowerCase();
  const lasted = durationText(Date.parse(ended_at) - Date.parse(started_at));
  return `${counters.succeeded} of ${counters.total} nodes upgraded in ${lasted}`;
}
