/** Rows for the keys of a bundle that was stored before there were any: at the first run, and after an update. */
import { listedKeys } from "../../core/keys/bundle-difference.ts";
import type { KeyId } from "../../core/ids.ts";
import { TrustBundle } from "../../core/snapshot/trust-bundle.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { KEYS_CHANNEL, writeArrivals } from "./rows.ts";

export async function writeFirstRows(
  tx: Transaction,
  bundle: TrustBundle,
  version: number,
  active: KeyId | null,
  actor: string,
): Promise<void> {
  const arrivals = listedKeys(bundle).map((listed) => {
    const waits = listed.authority === "online" && listed.record.key_id !== active;
    return { ...listed, from: null, state: waits ? ("introduced" as const) : ("active" as const) };
  });
  await writeArrivals(tx, arrivals, version, actor);
  await tx`select pg_notify(${KEYS_CHANNEL}, '')`;
}

/** Of several online keys the first whose private half is here is the one that signs. */
export async function ensureRows(db: Database, held: ReadonlySet<KeyId>): Promise<void> {
  const [rows] = await db`select 1 from signing_keys limit 1`;
  if (rows !== undefined) return;
  await db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${LOCKS.keys})`;
    const [taken] = await tx`select 1 from signing_keys limit 1`;
    const [newest] = await tx<{ version: number; content: unknown }[]>`
      select version, content from trust_bundles order by epoch desc, version desc limit 1`;
    if (taken !== undefined || newest === undefined) return;
    const bundle = TrustBundle.parse(newest.content);
    const active = bundle.online_keys.find(({ key_id }) => held.has(key_id)) ?? bundle.online_keys[0];
    await writeFirstRows(tx, bundle, newest.version, active?.key_id ?? null, "fairlead");
  });
}
