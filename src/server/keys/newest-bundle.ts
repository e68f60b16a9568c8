/** The newest bundle stored here, for an operator who makes the next one; and the newest that any node spoke of. */
import { FairleadError } from "../../core/errors.ts";
import type { BundleView } from "../../core/protocol/keys-api.ts";
import type { Database } from "../db/database.ts";

export async function readNewestBundle(db: Database): Promise<BundleView> {
  const [row] = await db<{ epoch: number; version: number; frame: Buffer }[]>`
    select epoch, version, frame from trust_bundles order by epoch desc, version desc limit 1`;
  if (row === undefined) throw new FairleadError("NOT_INITIALIZED", "the cluster has no trust bundle yet");
  const [seen] = await db<{ epoch: number | null; version: number | null }[]>`
    select max((a.value->>'epoch')::bigint) as epoch,
      max((a.value->>'version')::bigint) filter (where a.key = 'trust_bundle') as version
    from node_heartbeats hb join nodes n on n.id = hb.node_id and n.revoked_at is null,
      jsonb_each(hb.applied) as a`;
  const { epoch, version, frame } = row;
  return {
    epoch,
    version,
    trust_bundle: frame.toString("base64"),
    newest_reported:
      seen === undefined || seen.epoch === null ? null : { epoch: seen.epoch, version: seen.version ?? 0 },
  };
}
