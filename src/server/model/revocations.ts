/**
 * What operators took back (SNAP-10). The rows go into the heads of the nodes that they concern; a node's own revocation
 * and a key's are written by their own commands and are not lifted.
 */
import { z } from "zod";
import { FairleadError } from "../../core/errors.ts";
import { Digest, type NodeId } from "../../core/ids.ts";
import { LIFTABLE_KINDS, type RevocationRequest } from "../../core/model/revocation.ts";
import { RevocationView } from "../../core/protocol/model-api.ts";
import { REQUESTED_REVOCATIONS_MAX, type RevocationKind } from "../../core/snapshot/revocation.ts";
import type { RunSpec } from "../../core/upgrade/job.ts";
import { runDigest } from "../../trust/intent.ts";
import { decodeCursor, encodeCursor } from "../api/cursor.ts";
import type { Page } from "../api/ports.ts";
import type { Database, Queryable, Transaction } from "../db/database.ts";
import { appendEvents } from "../events/append.ts";
import { lockModel } from "./write.ts";

const After = z.strictObject({ seq: z.int() });

export interface RevocationFilter extends Page {
  readonly kind?: RevocationKind;
  /** What concerns this node: its own and everyone's. */
  readonly node_id?: NodeId;
}

/** Newest first. */
export async function listRevocations(
  db: Database,
  { kind, node_id, limit, cursor }: RevocationFilter,
): Promise<{ revocations: RevocationView[]; next_cursor: string | null }> {
  const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : decodeCursor(cursor, After).seq;
  const rows = await db<Row[]>`
    ${select(db)} where r.seq < ${before} ${kind === undefined ? db`` : db`and r.kind = ${kind}`}
      ${node_id === undefined ? db`` : db`and (r.node_id is null or r.node_id = ${node_id})`}
    order by r.seq desc limit ${limit + 1}`;
  const revocations = rows.slice(0, limit).map(viewOf);
  const last = rows.length > limit ? revocations.at(-1) : undefined;
  return { revocations, next_cursor: last === undefined ? null : encodeCursor({ seq: last.seq }) };
}

/** Asked for twice, it stands once. */
export async function addRevocation(
  db: Database,
  { kind, subject: named, node_id, reason }: RevocationRequest,
  actor: string,
): Promise<{ readonly revocation: RevocationView; readonly created: boolean }> {
  return db.begin(async (tx) => {
    await lockModel(tx);
    const subject = await subjectOf(tx, kind, named);
    await checkExists(tx, kind, subject, node_id);
    const [made] = await tx<{ seq: number }[]>`
      insert into authority_revocations (kind, subject, node_id, reason, actor)
      values (${kind}, ${subject}, ${node_id}, ${reason}, ${actor})
      on conflict (kind, subject, node_id) do nothing returning seq`;
    if (made !== undefined) {
      await refuseBeyondLimit(tx, node_id);
      const data = { kind, subject, reason };
      await appendEvents(tx, [{ kind: "authority.revoked", node_id, actor, data }]);
    }
    const [row] = await tx<Row[]>`
      ${select(tx)} where r.kind = ${kind} and r.subject = ${subject} and r.node_id is not distinct from ${node_id}`;
    return { revocation: viewOf(row!), created: made !== undefined };
  });
}

/** Refused here, because a head that cannot name a revocation would be refused at every poll. */
async function refuseBeyondLimit(tx: Transaction, nodeId: string | null): Promise<void> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) as count from authority_revocations
    where ${nodeId === null ? tx`node_id is null` : tx`node_id = ${nodeId}`}`;
  if (row!.count <= REQUESTED_REVOCATIONS_MAX) return;
  throw new FairleadError(
    "REVOCATIONS_FULL",
    `${nodeId === null ? "all nodes together" : `node ${nodeId}`} can have ${REQUESTED_REVOCATIONS_MAX} revocations`,
    { revocations_max: REQUESTED_REVOCATIONS_MAX },
  );
}

export async function liftRevocation(db: Database, seq: number, actor: string): Promise<void> {
  await db.begin(async (tx) => {
    await lockModel(tx);
    const [row] = await tx<Row[]>`${select(tx)} where r.seq = ${seq}`;
    if (row === undefined) throw new FairleadError("NOT_FOUND", `there is no revocation ${seq}`);
    const { kind, subject, node_id } = row;
    if (!(LIFTABLE_KINDS as readonly string[]).includes(kind))
      throw new FairleadError("ILLEGAL_TRANSITION", `a revoked ${kind} stays revoked`, { kind });
    await tx`delete from authority_revocations where seq = ${seq}`;
    await appendEvents(tx, [{ kind: "authority.restored", node_id, actor, data: { kind, subject } }]);
  });
}

/** A rollout stands for the artifact that it brings, or for how that runs. */
async function subjectOf(tx: Transaction, kind: RevocationRequest["kind"], named: string): Promise<string> {
  if ((kind !== "artifact" && kind !== "run") || Digest.safeParse(named).success) return named;
  const [rollout] = await tx<{ target_binary_checksum: Digest; run: RunSpec }[]>`
    select target_binary_checksum, run from rollouts where id = ${named}`;
  if (rollout === undefined)
    throw new FairleadError("INVALID_INPUT", `body.subject: there is no rollout ${named}`, {
      field: "body.subject",
    });
  return kind === "artifact" ? rollout.target_binary_checksum : runDigest(rollout.run);
}

async function checkExists(
  tx: Transaction,
  kind: RevocationRequest["kind"],
  subject: string,
  nodeId: string | null,
): Promise<void> {
  const missing = (field: string, what: string) =>
    new FairleadError("INVALID_INPUT", `body.${field}: there is no ${what}`, { field: `body.${field}` });
  if (nodeId !== null && (await tx`select 1 from nodes where id = ${nodeId}`).length === 0)
    throw missing("node_id", `node ${nodeId}`);
  if (kind === "peer" && (await tx`select 1 from nodes where id = ${subject}`).length === 0)
    throw missing("subject", `node ${subject}`);
  if (
    kind === "storage_endpoint" &&
    (await tx`select 1 from storage_endpoints where id = ${subject}`).length === 0
  )
    throw missing("subject", `storage-endpoint ${subject}`);
}

interface Row {
  readonly kind: string;
  readonly subject: string;
  readonly node_id: string | null;
  readonly created_at: Date;
}

const select = (db: Queryable) => db`
  select r.seq, r.kind, r.subject, r.node_id, r.reason, r.actor, r.created_at, n.name as node_name,
    coalesce(p.name, e.name) as subject_name
  from authority_revocations r
  left join nodes n on n.id = r.node_id
  left join nodes p on r.kind in ('peer', 'node_identity') and p.id::text = r.subject
  left join storage_endpoints e on r.kind = 'storage_endpoint' and e.id::text = r.subject`;

const viewOf = (row: Row): RevocationView =>
  RevocationView.parse({ ...row, created_at: row.created_at.toISOString() });
