/** What runs: systemd's word for the process, the kernel's for its bytes. */
import type { Digest } from "../../../../core/ids.ts";
import type { FileSystemPort } from "../../../../host/file-system-port.ts";
import type { RunningProgram, Supervision } from "../../port.ts";
import type { DropInFiles } from "./drop-in-files.ts";
import { instanceOf, readStarted, type Started } from "./started.ts";
import type { UnitState } from "./unit-state.ts";

export interface ObserveDeps {
  readonly folder: string;
  readonly dropIns: DropInFiles;
  readonly look: () => Promise<UnitState>;
  readonly executed: (state: UnitState, started: Started | undefined) => Promise<Digest | null>;
  readonly fs: FileSystemPort;
}

export function observer({ folder, dropIns, look, executed, fs }: ObserveDeps): () => Promise<Supervision> {
  async function runningOf(state: UnitState): Promise<RunningProgram | null> {
    const { pid, startedAtMs, invocation, restarts } = state;
    if (pid === 0 || startedAtMs === null) return null;
    const started = await readStarted(folder, fs);
    const fingerprint = await executed(state, started);
    if (fingerprint === null) return null;
    const instance_id = instanceOf(await dropIns.launch(), started, invocation);
    return { fingerprint, pid, instance_id, restarts, started_at: new Date(startedAtMs).toISOString() };
  }

  return async () => {
    const state = await look();
    const { restarts, startedAtMs, exit } = state;
    return {
      running: await runningOf(state),
      restarts,
      // systemd remembers the last one only
      restarted_at: restarts > 0 && startedAtMs !== null ? [new Date(startedAtMs).toISOString()] : [],
      last_exit:
        exit === null
          ? null
          : { code: exit.code, signal: exit.signal === null ? null : `signal ${exit.signal}`, at: exit.at },
    };
  };
}
