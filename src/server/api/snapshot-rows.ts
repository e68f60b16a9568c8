/**
 * The rows behind the views of snapshots: the newest per node and scope, what was before it, and the shared bundle.
 * Read from columns: a header that somebody damaged in the database must not hide that it is damaged.
 */
import { nextOf } from "../../core/errors.ts";
import type { Digest, KeyId, NodeId } from "../../core/ids.ts";
import type { CompilerRefusal, PublishedSnapshot } from "../../core/protocol/snapshot-api.ts";
import { SnapshotHeader, type SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { ScopeType } from "../../core/snapshot/scopes.ts";
import { decodeFrame } from "../../trust/frame.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import type { Database } from "../db/database.ts";

export interface ScopeRow {
  readonly scope: ScopeType;
  readonly published: PublishedSnapshot | null;
  readonly earlier: readonly Earlier[];
  readonly refusal: CompilerRefusal | null;
}

/** An earlier version, as far as the views need it. */
type Earlier = SnapshotVersion & { readonly expires_at: string | null };

interface Keyed {
  readonly node_id: NodeId;
  readonly scope_type: ScopeType;
}

/** What is shown of the shared bundle's past; older ones stay in the table. */
export const BUNDLES_SHOWN = 20;

/** `history`: also what each was before, which tells whether a node that lags behind still holds anything valid. */
export async function readScopeRows(
  db: Database,
  ids: readonly NodeId[],
  { history }: { readonly history: boolean },
): Promise<Map<NodeId, ScopeRow[]>> {
  const rows = new Map<string, ScopeRow & Keyed>();
  const put = ({ node_id, scope_type }: Keyed, part: Partial<ScopeRow>) => {
    const key = `${node_id} ${scope_type}`;
    const known = rows.get(key) ?? {
      node_id,
      scope_type,
      scope: scope_type,
      published: null,
      earlier: [],
      refusal: null,
    };
    rows.set(key, { ...known, ...part });
  };
  for (const row of await newestRows(db, ids)) put(row, { published: publishedOf(row) });
  for (const row of await refusalRows(db, ids)) put(row, { refusal: refusalOf(row) });
  const before = history ? await earlierRows(db, ids) : [];
  for (const [, group] of Map.groupBy(before, (row) => `${row.node_id} ${row.scope_type}`))
    put(group[0]!, { earlier: group.map(earlierOf) });
  const bundle = await bundleRow(db);
  const byNode = Map.groupBy(rows.values(), (row) => row.node_id);
  return new Map(ids.map((id) => [id, [...(byNode.get(id) ?? []), ...(bundle === null ? [] : [bundle])]]));
}

interface NewestRow extends Keyed, SnapshotVersion {
  readonly content_hash: Digest;
  readonly issued_at: Date;
  readonly refresh_after: Date;
  readonly expires_at: Date;
  readonly signer_key_id: KeyId;
  readonly bytes: number;
}

/** Magic and three lengths stand around a frame's parts. */
const FRAMING_BYTES = 16;

const newestRows = (db: Database, ids: readonly NodeId[]) => db<NewestRow[]>`
  select s.node_id, s.scope_type, s.authority_epoch as epoch, s.config_version as version, s.content_hash,
    s.issued_at, s.refresh_after, s.expires_at, s.signer_key_id,
    length(s.header) + length(s.signatures) + length(c.bytes) + ${FRAMING_BYTES} as bytes
  from snapshots s join snapshot_contents c using (content_hash) where s.node_id = any(${ids}::uuid[])`;

const publishedOf = (row: NewestRow): PublishedSnapshot => ({
  epoch: row.epoch,
  version: row.version,
  content_hash: row.content_hash,
  issued_at: row.issued_at.toISOString(),
  refresh_after: row.refresh_after.toISOString(),
  expires_at: row.expires_at.toISOString(),
  signer_key_id: row.signer_key_id,
  bytes: row.bytes,
});

interface EarlierRow extends Keyed, SnapshotVersion {
  readonly header: Buffer;
}

const earlierRows = (db: Database, ids: readonly NodeId[]) => db<EarlierRow[]>`
  select node_id, scope_type, authority_epoch as epoch, config_version as version, header
  from snapshot_history where node_id = any(${ids}::uuid[])`;

const earlierOf = ({ epoch, version, header }: EarlierRow): Earlier => ({
  epoch,
  version,
  expires_at: SnapshotHeader.safeParse(parsed(header)).data?.expires_at ?? null,
});

function parsed(header: Buffer): unknown {
  try {
    return parseCanonical(header);
  } catch {
    return null; // somebody damaged it: then nothing is known of it
  }
}

interface RefusalRow extends Keyed {
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly at: Date;
}

const refusalRows = (db: Database, ids: readonly NodeId[]) => db<RefusalRow[]>`
  select node_id, scope_type, code, path, message, at from snapshot_refusals where node_id = any(${ids}::uuid[])`;

const refusalOf = ({ code, path, message, at }: RefusalRow): CompilerRefusal => ({
  code,
  reason: message,
  field: path === "" ? null : path,
  at: at.toISOString(),
  remedy: nextOf(code),
});

async function bundleRow(db: Database): Promise<ScopeRow | null> {
  const frames = await db<{ frame: Buffer }[]>`
    select frame from trust_bundles order by epoch desc, version desc limit ${BUNDLES_SHOWN}`;
  const [newest, ...rest] = frames.map(({ frame }) => bundleOf(frame));
  return newest === undefined
    ? null
    : { scope: "trust_bundle", published: newest, earlier: rest, refusal: null };
}

/** Its table has no columns for these; only the server itself writes it, after it has verified the frame. */
function bundleOf(frame: Buffer): PublishedSnapshot {
  const header = SnapshotHeader.parse(parseCanonical(decodeFrame(frame).header));
  return {
    epoch: header.authority_epoch,
    version: header.config_version,
    content_hash: header.content_hash,
    issued_at: header.issued_at,
    refresh_after: header.refresh_after,
    expires_at: header.expires_at,
    signer_key_id: header.signer_key_id,
    bytes: frame.length,
  };
}
