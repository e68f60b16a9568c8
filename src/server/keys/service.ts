/**
 * The life of signing keys, as operators drive it (SNAP-8).
 *
 * 1. Each change is one transaction under one lock, decided by the pure rules of core. Where another key signs from then
 *    on, everything is marked in it to be published anew.
 * 2. A transaction that met a publisher on its way is tried again.
 */
import { decidePromotion } from "../../core/keys/decide-promotion.ts";
import { shortKey } from "../../core/keys/standing.ts";
import { FairleadError } from "../../core/errors.ts";
import type { KeyId, NodeId } from "../../core/ids.ts";
import type { BundleTaken, BundleView, KeyList, KeyView } from "../../core/protocol/keys-api.ts";
import type { Clock } from "../../host/clock.ts";
import type { Database, Transaction } from "../db/database.ts";
import { LOCKS } from "../db/locks.ts";
import { appendEvents } from "../events/append.ts";
import type { KeyRing } from "../identity/key-ring.ts";
import { wakeSigned } from "../rollout/intent-trust.ts";
import { markAllDirty } from "../snapshots/mark.ts";
import { readNodeStandings } from "./node-standings.ts";
import { republishStale } from "./republish.ts";
import { beginRetirement } from "./retire.ts";
import { insertProposal, KEYS_CHANNEL, readKeys, standingOf, writeSteps } from "./rows.ts";
import { refusalError, takeBundle, waitForPublishers } from "./take-bundle.ts";
import { getKey, listKeys } from "./views.ts";
import { readNewestBundle } from "./newest-bundle.ts";

export interface KeyService {
  list(): Promise<KeyList>;
  propose(name: string, actor: string): Promise<KeyView>;
  promote(id: KeyId, wish: PromotionWish, actor: string): Promise<KeyView>;
  retire(id: KeyId, deadlineMs: number, actor: string): Promise<KeyView>;
  newestBundle(): Promise<BundleView>;
  publish(
    frame: Buffer,
    abandoned: readonly NodeId[],
    reason: string | null,
    actor: string,
  ): Promise<BundleTaken>;
}

export interface PromotionWish {
  readonly abandon: readonly NodeId[];
  readonly deadline_ms: number;
}

export interface KeyServiceDeps {
  readonly db: Database;
  readonly clock: Clock;
  readonly ring: KeyRing;
}

export function createKeyService({ db, clock, ring }: KeyServiceDeps): KeyService {
  const locked = <T>(work: (tx: Transaction) => Promise<T>): Promise<T> =>
    untilNoDeadlock(
      () =>
        db.begin(async (tx) => {
          await tx`select pg_advisory_xact_lock(${LOCKS.keys})`; // (1)
          return work(tx);
        }) as Promise<T>,
    );

  async function propose(name: string, actor: string): Promise<KeyView> {
    const { record } = await ring.store.make();
    try {
      await locked(async (tx) => {
        await insertProposal(tx, record, name, actor);
        await appendEvents(tx, [
          { kind: "key.proposed", actor, data: { key: shortKey(record.key_id), authority: "online", name } },
        ]);
      });
    } catch (error) {
      await ring.store.forget(record.key_id);
      throw error;
    }
    return getKey(db, record.key_id, clock.now());
  }

  async function promote(id: KeyId, wish: PromotionWish, actor: string): Promise<KeyView> {
    const isHere = (await ring.store.load()).has(id);
    await locked(async (tx) => {
      const decision = decidePromotion({
        keys: (await readKeys(tx)).map(standingOf),
        keyId: id,
        nodes: await readNodeStandings(tx),
        abandoned: wish.abandon,
        retireBy: clock.now() + wish.deadline_ms,
      });
      if (decision.kind === "refused") throw refusalError(decision);
      if (!isHere) throw notHere(id);
      await waitForPublishers(tx);
      await writeSteps(tx, decision.steps, actor);
      await appendEvents(
        tx,
        decision.steps.map(({ key_id, to }) => ({
          kind: `key.${to}`,
          actor,
          data: { key: shortKey(key_id), authority: "online", abandoned: [...wish.abandon] },
        })),
      );
      await markAllDirty(tx, { force: true }); // (1)
      await tx`select pg_notify(${KEYS_CHANNEL}, '')`;
    });
    await ring.follow(db);
    return getKey(db, id, clock.now());
  }

  return {
    list: () => listKeys(db, clock.now()),
    propose,
    promote,
    async retire(id, deadlineMs, actor) {
      await locked((tx) => beginRetirement(tx, id, clock.now() + deadlineMs, actor));
      await ring.follow(db);
      await republishStale(db);
      return getKey(db, id, clock.now());
    },
    newestBundle: () => readNewestBundle(db),
    async publish(frame, abandoned, reason, actor) {
      const held = [...(await ring.store.load()).keys()];
      const now = clock.now();
      const { clusterId } = ring;
      const taken = await locked((tx) =>
        takeBundle(tx, { frame, abandoned, reason, actor, clusterId, held, now }),
      );
      await ring.follow(db);
      await wakeSigned(db);
      return taken;
    },
  };
}

const DEADLOCK = "40P01";
const TRIES = 3;

/** Invariant 2. */
async function untilNoDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (let tried = 1; ; tried += 1)
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== DEADLOCK || tried === TRIES) throw error;
    }
}

const notHere = (id: KeyId): FairleadError =>
  new FairleadError(
    "KEY_STATE",
    `the private half of key ${shortKey(id)} is not at this replica: copy its file there first`,
    { key_id: id },
  );
