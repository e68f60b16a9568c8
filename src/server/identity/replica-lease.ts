/**
 * A replica's right to serve agents.
 *
 * 1. It is held while the last renewal, counted from before it was sent, is younger than the lease. A replica that
 *    is cut off, hung or paused loses it by its own clocks, no later than the database's row lapses.
 * 2. A renewal counts only after the revocations committed before it have been applied: the row is renewed first,
 *    then revocations are read. One that commits in between finds a live row and waits for it.
 * 3. A number is acknowledged after its sockets are closed, never before.
 */
import { randomUUID } from "node:crypto";
import { LIMITS } from "../../core/limits.ts";
import type { NodeId } from "../../core/ids.ts";
import { sleep, type Clock } from "../../host/clock.ts";
import type { Logger } from "../../host/log.ts";
import type { Database } from "../db/database.ts";
import type { CertificateRegistry } from "./certificate-registry.ts";
import { REVOCATIONS_CHANNEL } from "./revocation.ts";

export interface ReplicaLease {
  readonly id: string;
  /** False: refuse every agent. */
  isHeld(): boolean;
  /** Called for each revoked node before the revocation is acknowledged; closes what the node has open. */
  onRevoked(close: (nodeId: NodeId) => void): void;
  /** Lets go of the lease at once. */
  close(): Promise<void>;
}

export interface ReplicaLeaseOptions {
  readonly db: Database;
  readonly clock: Clock;
  readonly log: Logger;
  readonly registry: CertificateRegistry;
}

const renewEveryMs = 1_000;
/** Rows of replicas that never said goodbye. */
const forgetAfterLeases = 1_000;

export async function startReplicaLease(options: ReplicaLeaseOptions): Promise<ReplicaLease> {
  const { db, clock, log, registry } = options;
  const id = randomUUID();
  const closers: ((nodeId: NodeId) => void)[] = [];
  let stopped = false;
  let wake = new AbortController();
  let renewed: { readonly monotonic: number; readonly wall: number } | null = null;
  let applied = await newestSequence(db);

  async function renew(): Promise<void> {
    const asked = { monotonic: clock.monotonic(), wall: clock.now() }; // (1)
    await writeLease(db, id, applied); // (2)
    const revoked = await revokedAfter(db, applied);
    for (const { seq, node_id } of revoked) {
      apply(node_id);
      applied = seq;
    }
    if (revoked.length > 0) await writeLease(db, id, applied); // (3)
    renewed = asked;
  }

  function apply(nodeId: NodeId): void {
    registry.forget(nodeId);
    for (const close of closers) {
      try {
        close(nodeId);
      } catch (error) {
        log.error("closing a revoked node's connections failed", { nodeId, error });
      }
    }
  }

  async function keepRenewing(): Promise<void> {
    for (;;) {
      await sleep(renewEveryMs, wake.signal);
      if (stopped) return;
      wake = new AbortController(); // before the rows are read: a notification from here on is a new turn
      await renew().catch((error: unknown) => log.warn("replica lease not renewed", { error }));
    }
  }

  function isHeld(): boolean {
    if (renewed === null || stopped) return false;
    // A suspended machine stops the monotonic clock and a set-back one the wall clock: the later of both decides.
    const age = Math.max(clock.monotonic() - renewed.monotonic, clock.now() - renewed.wall);
    return age < LIMITS.replicaLeaseMs;
  }

  await forgetLapsed(db);
  const listening = await db.listen(
    REVOCATIONS_CHANNEL,
    () => wake.abort(),
    () => wake.abort(),
  );
  await renew();
  const loop = keepRenewing();

  return {
    id,
    isHeld,
    onRevoked: (close) => void closers.push(close),
    async close() {
      stopped = true;
      wake.abort();
      await loop;
      await listening.unlisten().catch(() => undefined);
      await db`delete from replicas where id = ${id}`.catch(() => undefined);
    },
  };
}

/** The registry begins empty and reads rows, so what was revoked before the start is known without being applied. */
async function newestSequence(db: Database): Promise<number> {
  const [row] = await db<{ seq: number }[]>`select coalesce(max(seq), 0) as seq from revocations`;
  return row!.seq;
}

const revokedAfter = (db: Database, seq: number) =>
  db<
    { seq: number; node_id: NodeId }[]
  >`select seq, node_id from revocations where seq > ${seq} order by seq`;

async function writeLease(db: Database, id: string, applied: number): Promise<void> {
  await db`
    insert into replicas (id, lease_until, revocation_seq)
    values (${id}, clock_timestamp() + ${LIMITS.replicaLeaseMs} * interval '1 millisecond', ${applied})
    on conflict (id) do update set lease_until = excluded.lease_until, revocation_seq = excluded.revocation_seq`;
}

async function forgetLapsed(db: Database): Promise<void> {
  const ageMs = LIMITS.replicaLeaseMs * forgetAfterLeases;
  await db`delete from replicas where lease_until < clock_timestamp() - ${ageMs} * interval '1 millisecond'`;
}
