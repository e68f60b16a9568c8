/**
 * A root-signed trust bundle comes in (SNAP-8, SNAP-11).
 *
 * 1. It is verified as a node would, against the newest one stored here. Versions may be skipped: a restored database
 *    has lost some.
 * 2. Bundle, states of keys, epoch and events are one transaction; other replicas and every poll hear of it after.
 * 3. Where another key signs from now on, publishers are waited for: whoever signs later has seen the new rows.
 */
import { decideBundle, type BundleDecision } from "../../core/keys/decide-bundle.ts";
import { shortKey, type KeyRefusal } from "../../core/keys/standing.ts";
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, KeyId, NodeId } from "../../core/ids.ts";
import type { BundleTaken } from "../../core/protocol/keys-api.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Transaction } from "../db/database.ts";
import { appendEvents, type NewEvent } from "../events/append.ts";
import { leaveSequenceGap } from "../rollout/sequence-gap.ts";
import { markAllDirty } from "../snapshots/mark.ts";
import { readNodeStandings } from "./node-standings.ts";
import { KEYS_CHANNEL, readKeys, standingOf, writeArrivals, writeChanged, writeSteps } from "./rows.ts";
import { verifyNextBundle, type HeldBundle } from "./verify-bundle.ts";

export interface BundleArrival {
  readonly frame: Buffer;
  readonly abandoned: readonly NodeId[];
  readonly reason: string | null;
  readonly actor: string;
  readonly clusterId: ClusterId;
  /** Online keys whose private half is here. */
  readonly held: readonly KeyId[];
  readonly now: number;
}

/** Under the lock of the keys. */
export async function takeBundle(tx: Transaction, arrival: BundleArrival): Promise<BundleTaken> {
  const { frame, abandoned, reason, actor, clusterId, held, now } = arrival;
  const before = await newestBundle(tx);
  const { header, content } = verifyNextBundle(frame, before, clusterId, now); // (1)
  const { authority_epoch: epoch, config_version: version } = header;
  const keys = await readKeys(tx);
  const recovery = epoch > before.epoch;
  const decision = decideBundle({
    keys: keys.map(standingOf),
    before: before.content,
    after: content,
    recovery,
    nodes: await readNodeStandings(tx),
    abandoned,
    held,
    now,
  });
  if (decision.kind === "refused") throw refusalError(decision);
  const republish = recovery || decision.successor !== null;
  if (republish) await waitForPublishers(tx); // (3)
  await writeSteps(tx, decision.steps, actor);
  await writeArrivals(tx, decision.arrivals, version, actor);
  await writeChanged(tx, decision.changed);
  await tx`
    insert into trust_bundles (epoch, version, frame, content)
    values (${epoch}, ${version}, ${frame}, ${tx.json(content)})`;
  if (recovery) await openEpoch(tx, epoch, content, version, actor);
  const changes = changesOf(decision, keys);
  await noteRevoked(tx, changes, reason, actor);
  if (republish) await markAllDirty(tx, { force: true });
  await appendEvents(tx, eventsOf({ epoch, version, recovery }, content, changes, reason, actor)); // (2)
  await tx`select pg_notify(${KEYS_CHANNEL}, '')`;
  return { epoch, version, changes };
}

/** Publishers lock the nodes they publish for: when all can be locked, none is under way with an older key. */
export async function waitForPublishers(tx: Transaction): Promise<void> {
  await tx`select id from nodes order by id for no key update`;
}

export const refusalError = ({ code, message, detail }: KeyRefusal): FairleadError =>
  new FairleadError(code, message, { ...detail });

async function newestBundle(tx: Transaction): Promise<HeldBundle> {
  const [row] = await tx<{ epoch: number; version: number; content: unknown }[]>`
    select epoch, version, content from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_INITIALIZED", "the cluster has no trust bundle yet");
  return { epoch: row.epoch, version: row.version, content: TrustBundle.parse(row.content) };
}

async function openEpoch(
  tx: Transaction,
  epoch: number,
  { recovery }: TrustBundle,
  version: number,
  actor: string,
): Promise<void> {
  await tx`update clusters set epoch = ${epoch}`;
  await leaveSequenceGap(tx);
  await tx`
    insert into authority_epochs (epoch, reason, bundle_version, actor)
    values (${epoch}, ${recovery!.reason}, ${version}, ${actor}) on conflict do nothing`;
}

type Change = BundleTaken["changes"][number];

function changesOf(decision: BundleDecision, keys: readonly Omit<Change, "state">[]): Change[] {
  const authorityOf = (id: KeyId) => keys.find((key) => key.key_id === id)!.authority;
  return [
    ...decision.arrivals.map(({ record, authority, state }) => ({ key_id: record.key_id, authority, state })),
    ...decision.steps.map(({ key_id, to }) => ({ key_id, authority: authorityOf(key_id), state: to })),
  ];
}

/** Heads carry it too, to nodes that do not hold the bundle yet. */
async function noteRevoked(
  tx: Transaction,
  changes: readonly Change[],
  reason: string | null,
  actor: string,
): Promise<void> {
  for (const { key_id, authority, state } of changes)
    if (state === "revoked" && authority !== "root")
      await tx`
        insert into authority_revocations (kind, subject, node_id, reason, actor)
        values ('signing_key', ${key_id}, null, ${reason}, ${actor}) on conflict do nothing`;
}

function eventsOf(
  { epoch, version, recovery }: { epoch: number; version: number; recovery: boolean },
  content: TrustBundle,
  changes: readonly Change[],
  reason: string | null,
  actor: string,
): NewEvent[] {
  return [
    { kind: "trust.bundle", actor, data: { epoch, version, reason } },
    ...(recovery
      ? [{ kind: "authority.epoch", actor, data: { epoch, reason: content.recovery!.reason } }]
      : []),
    ...changes.map(({ key_id, authority, state }) => ({
      kind: `key.${state}`,
      actor,
      data: { key: shortKey(key_id), authority, bundle_version: version, reason },
    })),
  ];
}
