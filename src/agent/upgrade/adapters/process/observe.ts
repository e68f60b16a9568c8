/** What runs: the shim's word, checked against the kernel's. */
import type { Digest } from "../../../../core/ids.ts";
import { readJsonIfThere } from "../../../../host/files.ts";
import { isAlive } from "../../../../host/process-identity.ts";
import { ShimState, statePath } from "../../../shim/files.ts";
import type { RunningProgram, Supervision } from "../../port.ts";
import { hashFollowing } from "../files/hash-following.ts";
import { executableOf } from "./processes.ts";

export async function readState(folder: string): Promise<ShimState | undefined> {
  return readJsonIfThere(statePath(folder), ShimState);
}

export async function observe(folder: string): Promise<Supervision> {
  const state = await readState(folder);
  if (state === undefined) return { running: null, restarts: 0, restarted_at: [], last_exit: null };
  const { restarts, restarted_at, last_exit } = state;
  return { running: await runningOf(state), restarts, restarted_at, last_exit };
}

async function runningOf(state: ShimState): Promise<RunningProgram | null> {
  const { program, instance_id, started_at, restarts } = state;
  if (program === null || instance_id === null || started_at === null || !isAlive(program)) return null;
  const fingerprint = await executedBytes(state, program.pid);
  return fingerprint === null ? null : { fingerprint, pid: program.pid, instance_id, restarts, started_at };
}

/** A binary may have replaced itself by another (exec): then it is that one which runs, and its bytes are asked. */
async function executedBytes({ executable, fingerprint }: ShimState, pid: number): Promise<Digest | null> {
  if (executable === null || (await executableOf(pid)) === executable) return fingerprint;
  return hashFollowing(`/proc/${pid}/exe`);
}
