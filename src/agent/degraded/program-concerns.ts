/** The revocable parts of a program (SNAP-10): its service, its bytes, and how they run. */
import type { Digest, ProfileId } from "../../core/ids.ts";
import type { Revocation } from "../../core/snapshot/revocation.ts";
import type { RunSpec, UpgradeJob } from "../../core/upgrade/job.ts";
import { runDigest } from "../../trust/intent.ts";
import type { ActivationRecord } from "../upgrade/activations.ts";

export interface Started {
  readonly fingerprint: Digest;
  readonly run: RunSpec;
}

export const programConcerns = (profile: ProfileId, { fingerprint, run }: Started): Revocation[] => [
  { kind: "service_assignment", id: profile },
  { kind: "artifact", id: fingerprint },
  { kind: "run", id: runDigest(run) },
];

/** A reverse runs as the node recorded it, whatever its command says besides. */
export function jobConcerns(
  { chain_profile_id, direction, artifact: { fingerprint }, run }: UpgradeJob,
  activation: ActivationRecord | null,
): Revocation[] {
  const recorded = direction === "reverse" ? activation?.previous?.run : undefined;
  return programConcerns(chain_profile_id, { fingerprint, run: recorded ?? run });
}
