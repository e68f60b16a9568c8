/**
 * In whose name a thread of this replica signs now (SNAP-8).
 *
 * 1. Rows say which key is active; a replica without that key's private half signs nothing, and says so.
 * 2. While keys rotate, the one that comes and the one that goes sign beside the active one, where they are here.
 */
import { FairleadError } from "../../core/errors.ts";
import type { ClusterId, KeyId } from "../../core/ids.ts";
import type { KeyState } from "../../core/snapshot/signing-keys.ts";
import type { Signer } from "../../trust/keys.ts";
import type { ClockGate } from "../clock/gate.ts";
import type { Queryable } from "../db/database.ts";
import type { SignerStore } from "../keys/signer-store.ts";
import type { Authority } from "../snapshots/authority.ts";

export interface Signing extends Authority {
  follow(tx: Queryable): Promise<void>;
  /** Why nothing can be signed here; null when it can. */
  problem(): string | null;
}

interface OnlineRow {
  readonly key_id: KeyId;
  readonly state: KeyState;
}

/** As many as an envelope names. */
const CO_SIGNERS_MAX = 3;

/** Without a gate nothing watches the clocks: for tests of keys alone. */
export function createSigning(store: SignerStore, clusterId: ClusterId, clock?: ClockGate): Signing {
  let rows: readonly OnlineRow[] = [];
  let held: ReadonlyMap<KeyId, Signer> = new Map();

  function active(): Signer | string {
    const row = rows.find(({ state }) => state === "active");
    if (row === undefined) return "no trust bundle names an active online key";
    return (
      held.get(row.key_id) ??
      `the private half of the active online key ${row.key_id.slice(0, 12)} is not here`
    );
  }

  return {
    clusterId,
    ...(clock === undefined ? {} : { clock }),
    async follow(tx) {
      const seen = await readOnline(tx);
      if (spelled(seen) === spelled(rows) && neededBy(seen).every((id) => held.has(id))) return;
      held = await store.load();
      rows = seen;
    },
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
