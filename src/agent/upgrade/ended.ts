/** A checkpoint whose job has ended is only left over: what failed was tidying up, and nobody will go on from it. */
import type { AgentVerdict } from "../../core/upgrade/phases.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import { readActivation } from "./activations.ts";
import type { Checkpoint } from "./checkpoints.ts";
import { findCompleted } from "./completed-store.ts";

/** How its job ended; null while it has not. */
export async function endOf(
  stateDir: string,
  { job, input, plan, failure }: Checkpoint,
  fs?: FileSystemPort,
): Promise<AgentVerdict | null> {
  const completed = await findCompleted(stateDir, job, fs);
  if (completed?.input === input) return completed.outcome.verdict;
  // The activation is the last step of a success: only its verdict could not be stored.
  const activated = failure === null && (await readActivation(stateDir, job.chain_profile_id, fs));
  return activated && activated.key === plan.key ? "COMPLETED" : null;
}
