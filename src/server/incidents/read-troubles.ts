/** The rows that tell of trouble outside upgrades. Each query reads the troubled nodes alone, for the whole fleet at once. */
import { isCrashLoop } from "../../core/health/evaluate.ts";
import type { NodeId, ProfileId } from "../../core/ids.ts";
import {
  certificateEnding,
  crashLoop,
  keyEnding,
  nodeCertificateEnding,
  nodeDown,
  REJECTION_CODES,
  snapshotRejected,
} from "../../core/incident/troubles.ts";
import type { Trouble } from "../../core/incident/watch.ts";
import { LIMITS } from "../../core/limits.ts";
import { Rejection } from "../../core/protocol/agent-api.ts";
import { SnapshotHeader } from "../../core/snapshot/envelope.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import type { Transaction } from "../db/database.ts";
import type { OwnCertificate } from "./own-certificates.ts";

interface NodeRow {
  readonly id: NodeId;
  readonly name: string;
}

const nodeOf = ({ id, name }: NodeRow) => ({ nodeId: id, name });

export async function readNodeTroubles(tx: Transaction, now: number): Promise<Trouble[]> {
  return [...(await nodesDown(tx, now)), ...(await crashLoops(tx, now)), ...(await rejections(tx, now))];
}

/** A node that was just heard from is `down` until the next look at its health, and not silent any more. */
async function nodesDown(tx: Transaction, now: number): Promise<Trouble[]> {
  const late = new Date(now - LIMITS.heartbeatLateMs);
  const rows = await tx<(NodeRow & { heard_at: Date | null })[]>`
    select n.id, n.name, hb.received_at as heard_at
    from nodes n left join node_heartbeats hb on hb.node_id = n.id
    where n.state = 'down' and (hb.received_at is null or hb.received_at <= ${late})
      and n.enrolled_at is not null and n.revoked_at is null`;
  return rows.map((row) => nodeDown(nodeOf(row), row.heard_at?.getTime() ?? null));
}

/** In maintenance a restart belongs to the upgrade, which judges it by itself. */
async function crashLoops(tx: Transaction, now: number): Promise<Trouble[]> {
  const since = new Date(now - LIMITS.crashLoopWindowMs);
  const rows = await tx<
    (NodeRow & { profile: ProfileId; seen_restarts: number; base_restarts: number; base_at: Date })[]
  >`
    select n.id, n.name, ph.chain_profile_id as profile, ph.seen_restarts, ph.base_restarts, ph.base_at
    from profile_health ph
    join node_profiles np on np.node_id = ph.node_id and np.chain_profile_id = ph.chain_profile_id
    join nodes n on n.id = ph.node_id
    where ph.base_at > ${since} and np.state <> 'maintenance' and n.revoked_at is null`;
  return rows.flatMap((row) => {
    const memory = {
      seenRestarts: row.seen_restarts,
      baseRestarts: row.base_restarts,
      baseAt: row.base_at.getTime(),
    };
    const restarts = memory.seenRestarts - memory.baseRestarts;
    return isCrashLoop(memory, now) ? [crashLoop(nodeOf(row), row.profile, restarts)] : [];
  });
}

/** A node that goes on refusing says so with every poll: the newest refusal is as fresh as the trouble. */
async function rejections(tx: Transaction, now: number): Promise<Trouble[]> {
  const since = new Date(now - LIMITS.incidentQuietMs);
  const rows = await tx<(NodeRow & { last_rejection: unknown })[]>`
    select n.id, n.name, hb.last_rejection from node_heartbeats hb join nodes n on n.id = hb.node_id
    where hb.rejected_at > ${since} and hb.last_rejection->>'code' = any(${[...REJECTION_CODES]})
      and n.revoked_at is null`;
  return rows.map((row) => snapshotRejected(nodeOf(row), Rejection.parse(row.last_rejection)));
}

/** Trouble that comes slowly, and is looked for less often. */
export async function readEndings(
  tx: Transaction,
  site: readonly OwnCertificate[],
  now: number,
): Promise<Trouble[]> {
  return [
    ...(await nodeCertificates(tx, now)),
    ...certificatesEnding(site, now),
    ...(await keys(tx, now)),
    ...(await trustBundle(tx, now)),
  ];
}

export const certificatesEnding = (certificates: readonly OwnCertificate[], now: number): Trouble[] =>
  certificates
    .filter(({ endsAt }) => endsAt - now < LIMITS.certificateEndingMs)
    .map(({ name, endsAt }) => certificateEnding(name, endsAt, now));

async function nodeCertificates(tx: Transaction, now: number): Promise<Trouble[]> {
  const until = new Date(now + LIMITS.nodeCertificateEndingMs);
  const rows = await tx<(NodeRow & { ends_at: Date })[]>`
    select n.id, n.name, max(c.not_after) as ends_at
    from nodes n join node_certificates c on c.node_id = n.id and c.revoked_at is null
    where n.enrolled_at is not null and n.revoked_at is null
    group by n.id having max(c.not_after) < ${until}`;
  return rows.map((row) => nodeCertificateEnding(nodeOf(row), row.ends_at.getTime(), now));
}

async function keys(tx: Transaction, now: number): Promise<Trouble[]> {
  const until = new Date(now + LIMITS.keyEndingMs);
  const rows = await tx<{ key_id: string; authority: string; name: string; valid_until: Date }[]>`
    select key_id, authority, name, valid_until from signing_keys
    where state in ('introduced', 'active', 'retiring') and valid_until < ${until}`;
  return rows.map(({ key_id, authority, name, valid_until }) =>
    keyEnding(`the ${authority} key ${name} (${key_id.slice(0, 12)})`, valid_until.getTime(), now),
  );
}

async function trustBundle(tx: Transaction, now: number): Promise<Trouble[]> {
  const [row] = await tx<{ frame: Buffer }[]>`
    select frame from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) return [];
  const endsAt = Date.parse(SnapshotHeader.parse(parseCanonical(decodeFrame(row.frame).header)).expires_at);
  return endsAt - now < LIMITS.keyEndingMs ? [keyEnding("the trust bundle", endsAt, now)] : [];
}
