/** What an operator can type next, for a state that waits for one. The ids are short enough to copy by eye. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { componentTakes, needsIntent } from "../../core/rollout/members.ts";

/** What its group has to be asked for stands there as the group's command. */
export function nextStep(rollout: RolloutView): string | null {
  const { status, group_id: group } = rollout;
  const whyCode = rollout.why?.code ?? null;
  const command = (verb: string, more = ""): string =>
    `fairlead rollout ${verb} ${rollout.id.slice(0, 8)}${more}`;
  if (status === "pending") return group === null ? command("start") : null;
  if (status === "rolling_back") return needsIntent(whyCode) ? command("rollback", " --manifest FILE") : null;
  if (status !== "paused") return null;
  switch (whyCode) {
    case "CANARY_APPROVAL":
      return command("approve-canary", ' --reason "…"');
    case "CANARY_FAILED":
    case "THRESHOLD_EXCEEDED":
      return group === null
        ? `${command("retry")}, then resume; or force, or rollback`
        : `${command("retry")}, then ${resumeOf(group)}; or force`;
    case "INTENT_EXPIRED":
    case "INTENT_UNTRUSTED":
      return command("resume", " --manifest FILE");
    case "RETRYING":
      return null;
    default:
      return group === null || componentTakes({ status, whyCode }, "resume")
        ? command("resume")
        : resumeOf(group);
  }
}

const resumeOf = (group: string): string => `fairlead group resume ${group.slice(0, 8)}`;

export function groupNextStep({ id, status, why }: GroupView): string | null {
  const command = `fairlead group`;
  const short = id.slice(0, 8);
  if (status === "pending") return `${command} start ${short}`;
  if (status !== "paused") return null;
  if (why?.code === "COMPONENT_FAILED") return `${command} resume ${short}; or skip, or rollback`;
  return `${command} resume ${short}`;
}
