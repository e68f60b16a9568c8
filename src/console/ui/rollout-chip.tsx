import type { RolloutView } from "../../core/protocol/operator-api.ts";
import { Chip } from "./chip.tsx";
import { ROLLOUT_LOOKS } from "./tones.ts";

type Shown = Pick<RolloutView, "status" | "pause_requested" | "cancel_requested" | "rollback_requested">;

/** A request that waits for the end of the batch is part of the status for whoever looks. */
export function RolloutChip({ rollout }: { readonly rollout: Shown }) {
  return <Chip look={ROLLOUT_LOOKS[rollout.status]} note={noteOf(rollout)} />;
}

function noteOf({
  status,
  pause_requested,
  cancel_requested,
  rollback_requested,
}: Shown): string | undefined {
  if (status !== "running") return undefined;
  if (rollback_requested) return "going back";
  if (cancel_requested) return "cancelling";
  return pause_requested ? "pausing" : undefined;
}
