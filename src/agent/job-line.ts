/**
 * The accepted jobs in their order; the first one runs. An agent runs one job at a time, so a job of one program waits for
 * those of others before it (ROLL-28): the rollout hears for which.
 */
import type { PendingJob } from "./authority/ledger.ts";
import type { Outbox } from "./link/outbox.ts";

export function createJobLine(outbox: Pick<Outbox, "tell">) {
  let line: readonly PendingJob[] = [];

  function tellWaiting({ job }: PendingJob): void {
    const waiting_for = line[0]!.job.chain_profile_id;
    if (waiting_for === job.chain_profile_id) return;
    const jobs_ahead = line.findIndex((each) => each.job.command_id === job.command_id);
    outbox.tell(job.command_id, { kind: "waiting", waiting_for, jobs_ahead });
  }

  return {
    join(pending: PendingJob): void {
      line = [...line, pending];
      tellWaiting(pending);
    },
    leave(pending: PendingJob): void {
      line = line.filter((each) => each !== pending);
      line.forEach(tellWaiting);
    },
  };
}
