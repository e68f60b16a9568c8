/**
 * The online keys of this replica (SNAP-8); `signing.ts` says in whose name it signs.
 *
 * 1. Changes of other replicas are followed when they are announced, and inside each transaction that signs.
 * 2. The private half of a key that was retired or revoked is removed.
 */
import type { ClusterId, KeyId } from "../../core/ids.ts";
import type { Logger } from "../../host/log.ts";
import type { Signer } from "../../trust/keys.ts";
import type { ClockGate } from "../clock/gate.ts";
import type { Database } from "../db/database.ts";
import { ensureRows } from "../keys/first-rows.ts";
import { KEYS_CHANNEL } from "../keys/rows.ts";
import { fileSigners, type SignerStore } from "../keys/signer-store.ts";
import { loadOrCreateOnlineSigner } from "./online-signer.ts";
import { createSigning, type Signing } from "./signing.ts";

export interface KeyRing extends Signing {
  readonly store: SignerStore;
  /** The key that the first trust bundle names. */
  firstKey(): Promise<Signer>;
  /** Called after a change of keys or bundles, made here or at another replica. */
  onChange(listener: () => void): void;
  close(): Promise<void>;
}

export interface KeyRingOptions {
  readonly db: Database;
  readonly keysDir: string;
  readonly clusterId: ClusterId;
  readonly log: Logger;
  readonly clock?: ClockGate;
}

export async function createKeyRing({
  db,
  keysDir,
  clusterId,
  log,
  clock,
}: KeyRingOptions): Promise<KeyRing> {
  const store = fileSigners(keysDir);
  const signing = createSigning(store, clusterId, clock);
  const listeners: (() => void)[] = [];

  async function refresh(): Promise<void> {
    await ensureRows(db, new Set((await store.load()).keys()));
    await signing.follow(db); // (1)
    await forgetGone(); // (2)
  }

  async function forgetGone(): Promise<void> {
    const gone = await db<{ key_id: KeyId }[]>`
      select key_id from signing_keys where authority = 'online' and state in ('retired', 'revoked')`;
    for (const { key_id } of gone) await store.forget(key_id);
  }

  function announce(): void {
    void refresh()
      .catch((error: unknown) => log.error("reading signing keys failed", { error }))
      .finally(() => listeners.forEach((listener) => listener()));
  }

  await refresh();
  const listening = await db.listen(KEYS_CHANNEL, announce, announce);

  return {
    ...signing,
    store,
    firstKey: () => loadOrCreateOnlineSigner(keysDir),
    onChange: (listener) => void listeners.push(listener),
    async close() {
      await listening.unlisten().catch(() => undefined);
    },
  };
}
