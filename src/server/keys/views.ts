/** Keys as operators see them. */
import { nextStep } from "../../core/keys/next-step.ts";
import type { KeyId } from "../../core/ids.ts";
import { KeyView, type KeyList } from "../../core/protocol/keys-api.ts";
import { FairleadError } from "../../core/errors.ts";
import type { Database } from "../db/database.ts";
import { readKeys, standingOf, type KeyRow } from "./rows.ts";

export async function listKeys(db: Database, now: number): Promise<KeyList> {
  const keys = await readKeys(db);
  const held = await db<{ version: number | null; count: number }[]>`
    select (hb.applied->'trust_bundle'->>'version')::bigint as version, count(*) as count
    from nodes n left join node_heartbeats hb on hb.node_id = n.id
    where n.enrolled_at is not null and n.revoked_at is null group by 1`;
  const nodes = held.reduce((sum, { count }) => sum + count, 0);
  const [bundle] = await db<{ epoch: number; version: number }[]>`
    select epoch, version from trust_bundles order by epoch desc, version desc limit 1`;
  const confirmedBy = (row: KeyRow): number =>
    row.bundle_version === null
      ? 0
      : held.reduce(
          (sum, { version, count }) => sum + ((version ?? 0) >= row.bundle_version! ? count : 0),
          0,
        );
  return {
    keys: keys.map((row) => keyView(row, confirmedBy(row), nodes, now)),
    nodes,
    bundle: bundle === undefined ? null : { epoch: bundle.epoch, version: bundle.version },
  };
}

export async function getKey(db: Database, id: KeyId, now: number): Promise<KeyView> {
  const found = (await listKeys(db, now)).keys.find((key) => key.key_id === id);
  if (found === undefined) throw new FairleadError("NOT_FOUND", `there is no key ${id.slice(0, 12)}`);
  return found;
}

const instant = (at: Date | null): string | null => at?.toISOString() ?? null;

function keyView(row: KeyRow, confirmed: number, nodes: number, now: number): KeyView {
  return KeyView.parse({
    key_id: row.key_id,
    authority: row.authority,
    name: row.name,
    algorithm: row.algorithm,
    public_key: row.public_key,
    scopes: row.scopes,
    profiles: row.profiles,
    state: row.state,
    valid_from: instant(row.valid_from),
    valid_until: instant(row.valid_until),
    bundle_version: row.bundle_version,
    retire_by: instant(row.retire_by),
    changed_at: row.changed_at.toISOString(),
    changed_by: row.changed_by,
    confirmed_by: confirmed,
    next: nextStep(standingOf(row), confirmed, nodes, now),
  });
}
