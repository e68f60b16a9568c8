/**
 * The online keys of this replica (SNAP-8): in whose name it signs now.
 *
 * 1. Rows say which key is active; a replica without that key's private half signs nothing, and says so.
 * 2. While keys rotate, the one that comes and the one that goes sign beside the active one, where they are here.
 * 3. Changes of other replicas are followed when they are announced, and inside each transaction that signs.
 * 4. The private half of a key that was retired or revoked is removed.
 */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, KeyId } from "../../core/ids.ts";
import type { KeyState } from "../../core/snapshot/signing-keys.ts";
import type { Logger } from "../../host/log.ts";
import type { Signer } from "../../trust/keys.ts";
import type { Database, Queryable } from "../db/database.ts";
import { ensureRows } from "../keys/first-rows.ts";
import { KEYS_CHANNEL } from "../keys/rows.ts";
import { fileSigners, type SignerStore } from "../keys/signer-store.ts";
import type { Authority } from "../snapshots/authority.ts";
import { loadOrCreateOnlineSigner } from "./online-signer.ts";

export interface KeyRing extends Authority {
  follow(tx: Queryable): Promise<void>;
  readonly store: SignerStore;
  /** The key that the first trust bundle names. */
  firstKey(): Promise<Signer>;
  /** Why this replica cannot sign; null when it can. */
  problem(): string | null;
  /** Called after a change of keys or bundles, made here or at another replica. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

export interface KeyRingOptions {
  readonly db: Database;
  readonly keysDir: string;
  readonly clusterId: ClusterId;
  readonly log: Logger;
}

interface OnlineRow {
  readonly key_id: KeyId;
  readonly state: KeyState;
}

/** As many as an envelope names. */
const CO_SIGNERS_MAX = 3;

export async function createKeyRing({ db, keysDir, clusterId, log }: KeyRingOptions): Promise<KeyRing> {
  const store = fileSigners(keysDir);
  const listeners: (() => void)[] = [];
  let rows: readonly OnlineRow[] = [];
  let held: ReadonlyMap<KeyId, Signer> = new Map();

  async function follow(tx: Queryable): Promise<void> {
    const seen = await readOnline(tx); // (3)
    if (spelled(seen) === spelled(rows) && neededBy(seen).every((id) => held.has(id))) return;
    held = await store.load();
    rows = seen;
  }

  async function refresh(): Promise<void> {
    await ensureRows(db, new Set((await store.load()).keys()));
    await follow(db);
    await forgetGone(); // (4)
  }

  async function forgetGone(): Promise<void> {
    const gone = await db<{ key_id: KeyId }[]>`
      select key_id from signing_keys where authority = 'online' and state in ('retired', 'revoked')`;
    for (const { key_id } of gone) await store.forget(key_id);
  }

  function announce(): void {
    void refresh()
      .catch((error: unknown) => log.error("the signing keys could not be read", { error }))
      .finally(() => listeners.forEach((listener) => listener()));
  }

  function active(): Signer | string {
    const row = rows.find(({ state }) => state === "active");
    if (row === undefined) return "no trust bundle names an active online key";
    return (
      held.get(row.key_id) ??
      `the private half of the active online key ${row.key_id.slice(0, 12)} is not here`
    );
  }

  await refresh();
  const listening = await db.listen(KEYS_CHANNEL, announce, announce);

  return {
    clusterId,
    store,
    follow,
    firstKey: () => loadOrCreateOnlineSigner(keysDir),
    signers() {
      const first = active();
      if (typeof first === "string") throw new FairleadError("NOT_READY", `nothing can be signed: ${first}`); // (1)
      const beside = (state: KeyState) =>
        rows.filter((row) => row.state === state).map((row) => held.get(row.key_id));
      const others = [...beside("retiring"), ...beside("introduced")].filter(
        (signer) => signer !== undefined,
      ); // (2)
      return [first, ...others.slice(0, CO_SIGNERS_MAX)];
    },
    problem() {
      const first = active();
      return rows.length > 0 && typeof first === "string" ? first : null;
    },
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await listening.unlisten().catch(() => undefined);
    },
  };
}

const readOnline = (db: Queryable): Promise<OnlineRow[]> => db<OnlineRow[]>`
  select key_id, state from signing_keys
  where authority = 'online' and state in ('introduced', 'active', 'retiring') order by key_id`;

const spelled = (rows: readonly OnlineRow[]): string =>
  rows.map((row) => `${row.key_id} ${row.state}`).join(",");

/** A file that came after its row is looked for until it is there. */
const neededBy = (rows: readonly OnlineRow[]): KeyId[] =>
  rows.filter(({ state }) => state === "active").map(({ key_id }) => key_id);
