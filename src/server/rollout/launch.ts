/**
 * Turns launches into authority: an assignment of exactly `{current, target}`, its signed snapshot, and a signed
 * command of references, all in the transaction of the decision that asked for them.
 */
import { randomUUID } from "node:crypto";
import { CommandId, type Digest, type NodeId, type RolloutId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import {
  COMMAND_TYPE_UPGRADE,
  type CommandHeader,
  type UpgradePayload,
} from "../../core/protocol/command.ts";
import type { Launch } from "../../core/rollout/decision.ts";
import type { ConfigRef, RunSpec } from "../../core/upgrade/job.ts";
import { sealPayload, signCommands, type UnsignedCommand } from "../../trust/command.ts";
import type { SealedContent } from "../../trust/sealed-content.ts";
import type { Transaction } from "../db/database.ts";
import { partByPart, pipelined } from "../db/pipelined.ts";
import { signersAt, type Authority } from "../snapshots/authority.ts";
import { publishAssignments } from "../snapshots/publish-assignments.ts";
import { configsOf } from "./rollout-configs.ts";
import { enterMaintenance, type Launched } from "./maintenance.ts";
import { draftParcel, type ParcelDraft } from "./parcel.ts";
import { proofsOf } from "./proofs.ts";
import { forgetUnsettled } from "./unsettled.ts";
import { storeCommands, type NewCommand } from "./store-commands.ts";

const COMMANDS_AT_ONCE = 200;

interface RolloutFacts {
  readonly id: RolloutId;
  readonly chain_profile_id: CommandHeader["chain_profile_id"];
  readonly upgrade_id: UpgradePayload["upgrade_id"];
  readonly binary_name: string;
  readonly target_version: string;
  readonly target_binary_url: string;
  readonly target_binary_checksum: Digest;
  readonly run: RunSpec;
  readonly intent_digest: Digest | null;
  readonly intent_frame: Buffer | null;
}

export async function launchNodes(
  tx: Transaction,
  authority: Authority,
  rolloutId: RolloutId,
  launches: readonly Launch[],
  now: number,
): Promise<(readonly [NodeId, ParcelDraft | null])[]> {
  if (launches.length === 0) return [];
  const launchOf = new Map(launches.map((launch) => [launch.nodeId, launch]));
  const ids = [...launchOf.keys()];
  const [[rollout], configs, proofs, launched] = await pipelined(
    () => tx<RolloutFacts[]>`select * from rollouts where id = ${rolloutId}`,
    () => configsOf(tx, rolloutId, ids),
    () => proofsOf(tx, rolloutId, ids),
    () => enterMaintenance(tx, rolloutId, ids),
  );
  const [, , published] = await pipelined(
    () => forgetUnsettled(tx, rollout!.chain_profile_id, ids),
    () => assign(tx, rollout!, launched, launchOf),
    () =>
      publishAssignments(
        tx,
        authority,
        launched.map(({ node_id }) => node_id),
        now,
      ),
  );
  const assignments = new Map(published.map((snapshot) => [snapshot.nodeId, snapshot]));
  const seal = sealOnce();
  const draftFor = (node: Launched): UnsignedCommand => {
    const launch = launchOf.get(node.node_id)!;
    const payload = payloadOf(rollout!, node, launch, configs.get(node.node_id)!);
    const draft = {
      command_id: CommandId.parse(randomUUID()),
      command_type: COMMAND_TYPE_UPGRADE,
      cluster_id: authority.clusterId,
      subject_node_id: node.node_id,
      sequence: node.sequence,
      rollout_id: rolloutId,
      chain_profile_id: rollout!.chain_profile_id,
      intent_digest: rollout!.intent_digest,
      direction: launch.direction,
      attempt: launch.attempt,
      assignment_config_version: assignments.get(node.node_id)!.version,
      fingerprint: payload.artifact.fingerprint,
      issued_at: new Date(now).toISOString(),
      expires_at: new Date(now + LIMITS.commandLifetimeMs).toISOString(),
    } as const;
    return { draft, payload: seal(payload) };
  };
  const commandsFor = (part: readonly Launched[]): NewCommand[] => {
    const unsigned = part.map(draftFor);
    const frames = signCommands(unsigned, signersAt(authority, now)[0]);
    return part.map((node, at) => {
      const { command_id, direction, attempt } = unsigned[at]!.draft;
      return { ...node, command_id, frame: frames[at]!.toString("base64"), direction, attempt };
    });
  };
  const parts = await partByPart(launched, COMMANDS_AT_ONCE, commandsFor, (part) =>
    storeCommands(tx, rolloutId, part, now),
  );
  const intent = rollout!.intent_frame?.toString("base64") ?? null;
  return parts.flat().map(({ node_id, sequence, frame }) => {
    const delivery = { command: frame, intent, proof: proofs.get(node_id)! };
    return [node_id, draftParcel(assignments.get(node_id)!, { sequence, delivery })];
  });
}

/** Most nodes of a step get the same. */
function sealOnce(): (payload: UpgradePayload) => SealedContent {
  const sealed = new Map<string, SealedContent>();
  return (payload) => {
    const key = JSON.stringify(payload);
    const known = sealed.get(key) ?? sealPayload(payload);
    sealed.set(key, known);
    return known;
  };
}

async function assign(
  tx: Transaction,
  rollout: RolloutFacts,
  launched: readonly Launched[],
  launchOf: ReadonlyMap<NodeId, Launch>,
): Promise<void> {
  const rows = launched.map((node) => {
    const forward = launchOf.get(node.node_id)!.direction === "forward";
    return {
      node_id: node.node_id,
      current_fp: forward ? node.current : rollout.target_binary_checksum,
      target_fp: forward ? rollout.target_binary_checksum : node.previous_checksum,
    };
  });
  await tx`
    insert into service_assignments (node_id, chain_profile_id, kind, current_fp, target_fp, intent_digest, rollout_id)
    select a.node_id, ${rollout.chain_profile_id}, 'upgrading', a.current_fp, a.target_fp, ${rollout.intent_digest}, ${rollout.id}
    from jsonb_to_recordset(${tx.json(rows)}) as a(node_id uuid, current_fp text, target_fp text)
    on conflict (node_id, chain_profile_id) do update set kind = 'upgrading', current_fp = excluded.current_fp,
      target_fp = excluded.target_fp, rollback_fp = null, intent_digest = excluded.intent_digest, rollout_id = excluded.rollout_id`;
}

function payloadOf(
  rollout: RolloutFacts,
  node: Launched,
  launch: Launch,
  configs: readonly ConfigRef[],
): UpgradePayload {
  const name = rollout.binary_name;
  if (launch.direction === "forward") {
    const { target_version: version, target_binary_checksum: fingerprint, target_binary_url: url } = rollout;
    return {
      upgrade_id: rollout.upgrade_id,
      artifact: { name, version, fingerprint, url },
      run: rollout.run,
      configs: [...configs],
    };
  }
  // The node goes back to what it recorded itself; run and configs stand here for the intent's proof only.
  const artifact = {
    name,
    version: node.previous_version ?? "unknown",
    fingerprint: node.previous_checksum!,
    url: node.previous_binary_url ?? "",
  };
  return { upgrade_id: rollout.upgrade_id, artifact, run: rollout.run, configs: [...configs] };
}
