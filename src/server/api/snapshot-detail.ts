/** One snapshot whole: header, content and the signed bytes as its node gets them. */
import { FairleadError } from "../../core/errors.ts";
import type { NodeId } from "../../core/ids.ts";
import type { SnapshotDetail } from "../../core/protocol/snapshot-api.ts";
import { SnapshotHeader, type SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { ScopeType } from "../../core/snapshot/scopes.ts";
import { decodeFrame, joinFrame } from "../../trust/frame.ts";
import { parseCanonical } from "../../trust/strict-json.ts";
import type { Database } from "../db/database.ts";
import { BUNDLES_SHOWN } from "./snapshot-rows.ts";

interface Wanted {
  readonly version?: number;
  readonly epoch?: number;
}

interface Kept extends SnapshotVersion {
  readonly frame: () => Buffer;
}

/** The newest, unless another one is asked for and kept. */
export async function snapshotDetail(
  db: Database,
  id: NodeId,
  scope: ScopeType,
  wanted: Wanted,
): Promise<SnapshotDetail> {
  if ((await db`select 1 from nodes where id = ${id}`).length === 0)
    throw new FairleadError("NOT_FOUND", `there is no node ${id}`);
  const kept = scope === "trust_bundle" ? await keptBundles(db) : await keptSnapshots(db, id, scope);
  const found = kept.find(
    ({ version, epoch }) => version === (wanted.version ?? version) && epoch === (wanted.epoch ?? epoch),
  );
  if (found === undefined) {
    const what = wanted.version === undefined ? scope : `version ${wanted.version} of ${scope}`;
    throw new FairleadError("NOT_FOUND", `nothing is kept of ${what} for this node`);
  }
  const frame = found.frame();
  const { header, content } = decodeFrame(frame);
  return {
    node_id: id,
    header: SnapshotHeader.parse(parseCanonical(header)),
    content: parseCanonical(content) as SnapshotDetail["content"],
    frame: frame.toString("base64"),
    versions: kept.map(({ epoch, version }) => ({ epoch, version })),
  };
}

async function keptBundles(db: Database): Promise<Kept[]> {
  const rows = await db<(SnapshotVersion & { frame: Buffer })[]>`
    select epoch, version, frame from trust_bundles order by epoch desc, version desc limit ${BUNDLES_SHOWN}`;
  return rows.map(({ epoch, version, frame }) => ({ epoch, version, frame: () => frame }));
}

async function keptSnapshots(db: Database, id: NodeId, scope: ScopeType): Promise<Kept[]> {
  const rows = await db<(SnapshotVersion & { header: Buffer; signatures: Buffer; bytes: Buffer })[]>`
    select v.epoch, v.version, v.header, v.signatures, c.bytes from (
      select authority_epoch as epoch, config_version as version, content_hash, header, signatures from snapshots
        where node_id = ${id} and scope_type = ${scope}
      union all
      select authority_epoch, config_version, content_hash, header, signatures from snapshot_history
        where node_id = ${id} and scope_type = ${scope}
    ) v join snapshot_contents c using (content_hash)
    order by v.epoch desc, v.version desc`;
  return rows.map(({ epoch, version, header, bytes, signatures }) => ({
    epoch,
    version,
    frame: () => joinFrame(header, bytes, signatures),
  }));
}
