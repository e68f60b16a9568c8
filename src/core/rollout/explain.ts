/** Why a rollout is where it is, for people: what was stored when it stopped, or what it waits for now. */
import type { Why } from "./rows.ts";
import type { RolloutStatus } from "./states.ts";

/** Nodes whose agents run another program's job first: the first by name, and how many there are. */
export interface Waiting {
  readonly node: string;
  readonly profile: string;
  readonly nodes: number;
}

export interface Explained {
  readonly status: RolloutStatus;
  readonly why: Why | null;
  readonly currentBatch: number;
  readonly batchCount: number;
  readonly inProgress: number;
  readonly waiting: Waiting | null;
  readonly healthUntil: string | null;
}

export function explainRollout(rollout: Explained): Why | null {
  if (rollout.why !== null) return rollout.why;
  const batch = `batch ${rollout.currentBatch + 1} of ${rollout.batchCount}`;
  switch (rollout.status) {
    case "pending":
      return { code: "NOT_STARTED", text: "created; start it when ready" };
    case "rolling_back":
      return { code: "ROLLING_BACK", text: `${batch} goes back: ${atWork(rollout)}` };
    case "running":
      if (rollout.healthUntil !== null) {
        return {
          code: "OBSERVING_HEALTH",
          text: `${batch} is installed; its health is observed until ${rollout.healthUntil}`,
        };
      }
      return { code: "UPGRADING", text: `${batch}: ${atWork(rollout)}` };
    default:
      return null;
  }
}

function atWork({ inProgress, waiting }: Explained): string {
  const text = `${inProgress} nodes at work`;
  if (waiting === null) return text;
  const others = waiting.nodes === 1 ? "" : `, and on ${waiting.nodes - 1} more`;
  return `${text}, waiting for ${waiting.profile} on ${waiting.node}${others}`;
}
