/**
 * An accepted job before it begins, after a restart or behind another job, and again before it stops the program
 * (SNAP-16): it passes the checks that its command passed, on what the node knows by now.
 *
 * 1. The frames are verified again: a key may have been revoked since.
 * 2. A newer command for the profile, a newer intent, another assignment, a closed window or other installed bytes end
 *    its authority. Its own acceptance is not held against it.
 */
import { FairleadError } from "../../core/errors.ts";
import { readActivation } from "../upgrade/activations.ts";
import { attemptKey, type PendingJob } from "./ledger.ts";
import { authorize } from "./authorize.ts";
import { type ReceiveDeps, verified, verifiedIntent } from "./receive.ts";

export type AuthorizeAgain = (pending: PendingJob, begun: boolean) => Promise<void>;

export function createAuthorizeAgain(deps: Omit<ReceiveDeps, "keeper" | "clock">): AuthorizeAgain {
  const { identity, snapshots, ledger, programs, stateDir } = deps;
  return async ({ job, delivery }, begun) => {
    if (delivery === null)
      throw new FairleadError("COMMAND_UNTRUSTED", "an older agent accepted it and kept no signature of it");
    const command = verified(deps, Buffer.from(delivery.command, "base64")); // (1)
    const intent = verifiedIntent(deps, delivery, command); // (1)
    const { sequence, chain_profile_id: profile } = command.header;
    const own = intent === null ? null : attemptKey(intent.digest, job.direction, job.attempt);
    const { ran, ...seen } = ledger.profile(profile);
    const newest = ledger.newest(profile);
    const situation = {
      nodeId: identity.node_id,
      clusterId: identity.cluster_id,
      time: snapshots.time(),
      mark: newest > sequence ? newest : sequence - 1, // (2)
      bundle: snapshots.bundle()!,
      knowsProfile: programs.has(profile),
      assignment: snapshots.assignment(),
      intent,
      proof: delivery.proof,
      ledger: { ...seen, ran: ran.filter((key) => key !== own) }, // (2)
      installed: await programs.measure(profile),
      activation: await readActivation(stateDir, profile),
    };
    authorize(command, situation, begun);
  };
}
