/**
 * After success: what the profile now is, and what it was, so that a reverse finds its way (SNAP-16).
 *
 * 1. A state is never its own previous one: a retry that finds its target running keeps what ran before the target.
 */
import { isDeepStrictEqual } from "node:util";
import type { ConfigRef } from "../../core/upgrade/job.ts";
import { type Activation, type ActivationRecord, readActivation, writeActivation } from "./activations.ts";
import type { Backup, BackupRef } from "./backup/manifest.ts";
import type { UpgradeRun } from "./run.ts";

export async function recordActivation(run: UpgradeRun): Promise<void> {
  const { stateDir, fs } = run.deps;
  const { job, plan } = run.checkpoint;
  const record = await readActivation(stateDir, job.chain_profile_id, fs);
  if (record?.key === plan.key) return;
  const { artifact, configs, absent } = plan;
  const current: Activation = {
    fingerprint: artifact.fingerprint,
    version: artifact.version,
    run: plan.run,
    configs,
    absent,
    url: artifact.url,
    rollout_id: job.rollout_id,
    backup: null,
  };
  // A reverse leaves nothing to go back to: forward again is a new intent, not a flip of the same one.
  const previous = job.direction === "reverse" ? null : await replaced(run, current, record);
  await writeActivation(stateDir, job.chain_profile_id, { key: plan.key, current, previous }, fs);
}

async function replaced(
  run: UpgradeRun,
  current: Activation,
  record: ActivationRecord | null,
): Promise<Activation | null> {
  const saved = await savedBefore(run, record);
  if (saved === null || !isSameState(saved, current)) return saved;
  return record !== null && isSameState(record.current, current)
    ? record.previous
    : (record?.current ?? null); // (1)
}

async function savedBefore(run: UpgradeRun, record: ActivationRecord | null): Promise<Activation | null> {
  const ref = run.checkpoint.facts.backup;
  if (ref === null) return record?.current ?? null;
  try {
    return asSaved(await run.deps.adapter.readBackup(ref), ref, record);
  } catch (error) {
    run.deps.log.warn("backup not verifiable; a reverse fetches again", { error });
    return record?.current ?? null;
  }
}

/** The same bytes, run the same way, beside the same files. A change of configs alone is a change of state. */
function isSameState(left: Activation, right: Activation): boolean {
  const stateOf = ({ fingerprint, run, configs }: Activation) => ({
    fingerprint,
    run,
    configs: configs.map(({ path, mode, sha256 }) => `${path} ${mode} ${sha256}`).toSorted(),
  });
  return isDeepStrictEqual(stateOf(left), stateOf(right));
}

function asSaved(
  { artifact, configs, absent, run }: Backup,
  backup: BackupRef,
  record: ActivationRecord | null,
): Activation | null {
  if (artifact === null) return null;
  // Found, not rolled out: nobody told its version or where its bytes came from.
  const known = record?.current.fingerprint === artifact.sha256 ? record.current : null;
  return {
    fingerprint: artifact.sha256,
    version: known?.version ?? null,
    run,
    configs: configs.map(({ path, mode, sha256 }): ConfigRef => ({ path, mode: octal(mode), sha256 })),
    absent,
    url: known?.url ?? null,
    rollout_id: known?.rollout_id ?? null,
    backup,
  };
}

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");
