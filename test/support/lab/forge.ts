/** Assignments and commands as the control plane signs them, for whatever somebody with its key likes. */
import { randomUUID } from "node:crypto";
import {
  CommandId,
  type ClusterId,
  type Digest,
  type NodeId,
  ProfileId,
  RolloutId,
  SnapshotId,
} from "../../../src/core/ids.ts";
import { COMMAND_TYPE_UPGRADE } from "../../../src/core/protocol/command.ts";
import type { NodeRole } from "../../../src/core/snapshot/scopes.ts";
import { RunSpec } from "../../../src/core/upgrade/job.ts";
import { signCommand } from "../../../src/trust/command.ts";
import type { Signer } from "../../../src/trust/keys.ts";
import { signSnapshot, type SignedSnapshot } from "../../../src/trust/snapshot.ts";
import type { Published } from "./origin.ts";

export interface Lie {
  readonly node: string;
  readonly profile: string;
  /** A rollout that an operator made: its intent is delivered along. */
  readonly rolloutId: string;
  readonly current: Digest;
  readonly target: Published & { readonly checksum: Digest };
  readonly intentDigest: Digest | null;
  readonly assignmentLifetimeMs?: number;
  /** Instead of the next one. */
  readonly sequence?: number;
}

export interface Victim {
  readonly id: NodeId;
  readonly roles: NodeRole[];
  readonly sequence: number;
  readonly version: number;
}

export interface Forger {
  readonly clusterId: ClusterId;
  readonly epoch: number;
  readonly signer: Signer;
}

const HOUR_MS = 3_600_000;

export function forgeAssignment(
  { clusterId, epoch, signer }: Forger,
  lie: Lie,
  victim: Victim,
): SignedSnapshot {
  const assignment = {
    kind: "upgrading",
    chain_profile_id: ProfileId.parse(lie.profile),
    rollout_id: RolloutId.parse(lie.rolloutId),
    intent_digest: lie.intentDigest,
    current: lie.current,
    target: lie.target.checksum,
  };
  return signSnapshot(
    {
      snapshotId: SnapshotId.parse(randomUUID()),
      clusterId,
      subject: victim.id,
      scope: "service_assignment",
      roles: victim.roles,
      version: victim.version,
      epoch,
      issuedAt: Date.now(),
      lifetimeMs: lie.assignmentLifetimeMs ?? HOUR_MS,
      content: { assignments: [assignment] },
    },
    [signer],
  );
}

export function forgeCommand({ clusterId, signer }: Forger, lie: Lie, victim: Victim): Buffer {
  const { version, url, checksum: fingerprint } = lie.target;
  return signCommand(
    {
      command_id: CommandId.parse(randomUUID()),
      command_type: COMMAND_TYPE_UPGRADE,
      cluster_id: clusterId,
      subject_node_id: victim.id,
      sequence: lie.sequence ?? victim.sequence,
      rollout_id: RolloutId.parse(lie.rolloutId),
      chain_profile_id: ProfileId.parse(lie.profile),
      intent_digest: lie.intentDigest,
      direction: "forward",
      attempt: 2,
      assignment_config_version: victim.version,
      fingerprint,
      issued_at: new Date().toISOString(),
      expires_at: new Date(Date.now() + HOUR_MS / 6).toISOString(),
    },
    {
      upgrade_id: null,
      artifact: { name: "hello", version, fingerprint, url },
      run: RunSpec.parse({}),
      configs: [],
    },
    signer,
  );
}
