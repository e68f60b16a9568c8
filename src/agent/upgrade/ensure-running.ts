/**
 * After a start of the agent or of the machine: the program that should run, runs.
 *
 * 1. Never beside an unfinished upgrade, and never after one that could not be taken back.
 * 2. Never other bytes than the ones that were activated last.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, ProfileId } from "../../core/ids.ts";
import type { FileSystemPort } from "../../host/file-system-port.ts";
import type { Started } from "../degraded/program-concerns.ts";
import type { ProgramConfig } from "../programs/config.ts";
import { readActivation } from "./activations.ts";
import { readCheckpoint } from "./checkpoints.ts";
import { endOf } from "./ended.ts";
import { type Hold, readHold } from "./held.ts";
import type { RuntimeAdapter } from "./port.ts";

export type EnsureRunning =
  | { readonly kind: "running" | "started" | "not_installed" | "upgrade_unfinished" }
  | { readonly kind: "held"; readonly hold: Hold }
  | { readonly kind: "drifted"; readonly installed: Digest; readonly activated: Digest };

export interface EnsureRunningDeps {
  readonly profile: ProfileId;
  readonly program: ProgramConfig;
  readonly adapter: RuntimeAdapter;
  readonly stateDir: string;
  readonly signal: AbortSignal;
  /** Throws to forbid a start; asked only when there is something to start. */
  readonly beforeStart?: (started: Started) => Promise<void>;
  readonly fs?: FileSystemPort;
}

/** Instance ids of what was found on the machine begin with this. */
const PROVISIONED_KEY = "provisioned.forward.1";

/** A checkpoint that cannot be read is one all the same; one of a job that ended is none, unless it ended badly. */
async function isUnfinished({ stateDir, profile, fs }: EnsureRunningDeps): Promise<boolean> {
  try {
    const checkpoint = await readCheckpoint(stateDir, profile, fs);
    if (checkpoint === undefined) return false;
    const end = await endOf(stateDir, checkpoint, fs);
    return end === null || end === "FAILED_ROLLBACK";
  } catch (error) {
    if (error instanceof FairleadError && error.code === "INVALID_INPUT") return true;
    throw error;
  }
}

export async function ensureRunning(deps: EnsureRunningDeps): Promise<EnsureRunning> {
  const { profile, program, adapter, stateDir, signal, beforeStart, fs } = deps;
  if (await isUnfinished(deps)) return { kind: "upgrade_unfinished" }; // (1)
  const hold = await readHold(stateDir, profile, fs);
  if (hold !== null) return { kind: "held", hold }; // (1)
  // A program without its shim runs, but nobody would restart it: `start` takes it over by stopping it first.
  if (await adapter.isSupervised()) return { kind: "running" };

  const installed = await adapter.measure();
  if (installed === null) return { kind: "not_installed" };
  const record = await readActivation(stateDir, profile, fs);
  if (record !== null && record.current.fingerprint !== installed) {
    return { kind: "drifted", installed, activated: record.current.fingerprint }; // (2)
  }
  const run = record?.current.run ?? program.run;
  await beforeStart?.({ fingerprint: installed, run });
  await adapter.start({ key: record?.key ?? PROVISIONED_KEY, fingerprint: installed, run }, signal);
  return { kind: "started" };
}
