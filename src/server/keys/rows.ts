/** The rows of signing keys: public halves and where each stands (SNAP-8). */
import type { KeyStanding, KeyStep } from "../../core/keys/standing.ts";
import type { KeyArrival } from "../../core/keys/decide-bundle.ts";
import type { ListedKey } from "../../core/keys/bundle-difference.ts";
import { FairleadError } from "../../core/errors.ts";
import type { KeyId } from "../../core/ids.ts";
import type { SignatureAlgorithm } from "../../core/snapshot/envelope.ts";
import type { KeyRecord } from "../../core/snapshot/trust-bundle.ts";
import type { Queryable, Transaction } from "../db/database.ts";

export const KEYS_CHANNEL = "fairlead_keys";

export interface KeyRow extends Omit<KeyStanding, "retire_by"> {
  readonly algorithm: SignatureAlgorithm;
  readonly public_key: string;
  readonly scopes: string[];
  readonly profiles: string[];
  readonly valid_from: Date | null;
  readonly valid_until: Date | null;
  readonly retire_by: Date | null;
  readonly changed_at: Date;
  readonly changed_by: string;
}

export const standingOf = (row: KeyRow): KeyStanding => ({
  key_id: row.key_id,
  authority: row.authority,
  name: row.name,
  state: row.state,
  bundle_version: row.bundle_version,
  retire_by: row.retire_by?.getTime() ?? null,
});

export const readKeys = (db: Queryable): Promise<KeyRow[]> => db<KeyRow[]>`
  select key_id, authority, name, algorithm, public_key, scopes, profiles, valid_from, valid_until, state, bundle_version,
    retire_by, changed_at, changed_by
  from signing_keys
  order by array_position(array['root', 'online', 'release', 'publisher'], authority::text), changed_at, key_id`;

export async function insertProposal(
  tx: Transaction,
  record: KeyRecord,
  name: string,
  actor: string,
): Promise<void> {
  await tx`
    insert into signing_keys (key_id, authority, name, algorithm, public_key, state, changed_by)
    values (${record.key_id}, 'online', ${name}, ${record.algorithm}, ${record.public_key}, 'proposed', ${actor})`;
}

/** Compare-and-set: a step that was decided on another state moves nothing. */
export async function writeSteps(tx: Transaction, steps: readonly KeyStep[], actor: string): Promise<void> {
  // The active key steps down before another steps up: there is one at a time.
  for (const step of steps.toSorted((a, b) => Number(a.to === "active") - Number(b.to === "active"))) {
    const moved = await tx`
      update signing_keys set state = ${step.to}, changed_at = clock_timestamp(), changed_by = ${actor},
        retire_by = ${step.retire_by === null ? null : new Date(step.retire_by)}
      where key_id = ${step.key_id} and state = ${step.from} returning key_id`;
    if (moved.length === 0)
      throw new FairleadError("STATE_MOVED", `key ${step.key_id.slice(0, 12)} is not ${step.from} any more`);
  }
}

export async function writeArrivals(
  tx: Transaction,
  arrivals: readonly KeyArrival[],
  bundleVersion: number,
  actor: string,
): Promise<void> {
  for (const arrival of arrivals) await upsertListed(tx, arrival, arrival.state, bundleVersion, actor);
}

/** Name, validity, scopes or profiles differ; the state does not. */
export async function writeChanged(tx: Transaction, changed: readonly ListedKey[]): Promise<void> {
  for (const listed of changed) {
    const { name, scopes, profiles, validFrom, validUntil } = columnsOf(listed);
    await tx`
      update signing_keys set scopes = ${scopes}, profiles = ${profiles}, name = coalesce(${name}, name),
        valid_from = ${validFrom}, valid_until = ${validUntil}
      where key_id = ${listed.record.key_id}`;
  }
}

async function upsertListed(
  tx: Transaction,
  listed: ListedKey,
  state: string,
  bundleVersion: number,
  actor: string,
): Promise<void> {
  const { record, authority } = listed;
  const { name, scopes, profiles, validFrom, validUntil } = columnsOf(listed);
  await tx`
    insert into signing_keys as k (key_id, authority, name, algorithm, public_key, scopes, profiles, valid_from, valid_until,
      state, bundle_version, changed_by)
    values (${record.key_id}, ${authority}, ${name ?? nameOf(authority, record.key_id)}, ${record.algorithm},
      ${record.public_key}, ${scopes}, ${profiles}, ${validFrom}, ${validUntil}, ${state}, ${bundleVersion}, ${actor})
    on conflict (key_id) do update set scopes = excluded.scopes, profiles = excluded.profiles,
      name = coalesce(${name}, k.name), valid_from = excluded.valid_from, valid_until = excluded.valid_until,
      state = excluded.state, bundle_version = excluded.bundle_version, changed_by = excluded.changed_by,
      changed_at = clock_timestamp()`;
}

function columnsOf({ record }: ListedKey) {
  const at = (text: string | undefined) => (text === undefined ? null : new Date(text));
  return {
    name: record.name ?? null,
    scopes: [...(record.scopes ?? [])],
    profiles: [...(record.profiles ?? [])],
    validFrom: at(record.valid_from),
    validUntil: at(record.valid_until),
  };
}

/** Root and online keys have no name in a bundle. */
const nameOf = (authority: string, keyId: KeyId): string => `${authority}-${keyId.slice(0, 8)}`;
