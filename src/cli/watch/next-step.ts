/** What an operator can type next, for a state that waits for one. The ids are short enough to copy by eye. */
import type { GroupView } from "../../core/protocol/group-api.ts";
import type { RolloutView } from "../../core/protocol/operator-api.ts";

export function nextStep(rollout: RolloutView): string | null {
  const id = rollout.id.slice(0, 8);
  const command = (verb: string, more = ""): string => `fairlead rollout ${verb} ${id}${more}`;
  if (rollout.status === "pending" && rollout.group_id === null) return command("start");
  if (rollout.status !== "paused") return null;
  switch (rollout.why?.code) {
    case "CANARY_APPROVAL":
      return command("approve-canary", ' --reason "…"');
    case "CANARY_FAILED":
    case "THRESHOLD_EXCEEDED":
      return `${command("retry")}, then resume; or force, or rollback`;
    case "INTENT_EXPIRED":
      return command("resume", " --manifest FILE");
    default:
      return rollout.group_id === null ? command("resume") : null;
  }
}

export function groupNextStep({ id, status, why }: GroupView): string | null {
  const command = `fairlead group`;
  const short = id.slice(0, 8);
  if (status === "pending") return `${command} start ${short}`;
  if (status !== "paused") return null;
  if (why?.code === "COMPONENT_FAILED") return `${command} resume ${short}; or skip, or rollback`;
  return `${command} resume ${short}`;
}
