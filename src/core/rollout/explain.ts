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
  readonly id: string;
  /** Until then nodes still take the signed intent; null: it was called off, is over, or there was none. */
  readonly intentValidUntil: string | null;
  readonly status: RolloutStatus;
  readonly why: Why | null;
  readonly currentBatch: number;
  readonly batchCount: number;
  readonly inProgress: number;
  readonly waiting: Waiting | null;
  /** Of those at work. */
  readonly silent: number;
  readonly healthUntil: string | null;
}

export function explainRollout(rollout: Explained): Why | null {
  if (rollout.status === "cancelled" && rollout.intentValidUntil !== null) return unsignedCancel(rollout);
  if (rollout.why !== null) return withSilence(rollout, rollout.why);
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

function atWork(rollout: Explained): string {
  const { inProgress, waiting } = rollout;
  const others = waiting === null || waiting.nodes === 1 ? "" : `, and on ${waiting.nodes - 1} more`;
  return [
    `${inProgress} nodes at work`,
    ...(waiting === null ? [] : [`waiting for ${waiting.profile} on ${waiting.node}${others}`]),
    ...silenceText(rollout),
  ].join(", ");
}

/** Whatever else a rollout waits for, its silent nodes hold it up. */
const withSilence = (rollout: Explained, { code, text }: Why): Why => ({
  code,
  text: [text, ...silenceText(rollout)].join("; "),
});

function silenceText({ id, silent }: Explained): readonly string[] {
  const command = `fairlead rollout give-up ${id.slice(0, 8)} --all-silent`;
  return silent === 0 ? [] : [`${silent} silent: wait for them, or give them up with \`${command}\``];
}

/** Whoever steals the control plane could go on with a rollout that its operators have called off. */
function unsignedCancel({ id, why, intentValidUntil }: Explained): Why {
  const command = `fairlead rollout cancel ${id.slice(0, 8)} --sign`;
  const cancelled = why === null ? "cancelled" : why.text;
  return {
    code: CANCEL_UNSIGNED,
    text: `${cancelled}; its signed intent is valid until ${intentValidUntil!}: call it off with \`${command}\``,
  };
}

/** A cancel without the empty intent that makes nodes refuse what was signed before it. */
export const CANCEL_UNSIGNED = "CANCEL_UNSIGNED";
