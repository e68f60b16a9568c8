/**
 * What waits for a node: snapshots newer than it has, commands above its mark, a head where its own is old.
 * Looked up for many nodes at once.
 *
 * 1. Whoever gets a command, or for whom something was revoked, gets a fresh head with it (SNAP-10, SNAP-17).
 * 2. While the clocks disagree no head is signed; everything that was signed before is handed out all the same.
 */
import type { NodeId } from "../../core/ids.ts";
import type { PollRequest, PollResponse } from "../../core/protocol/agent-api.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { Database } from "../db/database.ts";
import type { SentCommand } from "../rollout/parcel.ts";
import { maySignAt, type Authority } from "../snapshots/authority.ts";
import { bundleInStep, type BundleSource } from "../keys/bundle-in-step.ts";
import { bundlesAfter } from "../snapshots/bundles.ts";
import { putTogether } from "./answer.ts";
import { createBatcher } from "./batcher.ts";
import { isHeadDue, mayLackRevocation, signHeadFor, type HeadReader } from "./heads.ts";
import { createRevokedReader, type RevokedReader } from "./revoked.ts";
import { findSnapshots, type SnapshotRow } from "./snapshot-rows.ts";
import type { Standing } from "./standings.ts";
import { COMMANDS_MAX, findCommands, findVoidIntents } from "./waiting.ts";

export interface DeliveryQuery {
  readonly nodeId: NodeId;
  readonly have: PollRequest["have"];
  readonly mark: number;
  readonly serials: PollRequest["intent_serials"];
  readonly headIssuedAt: number | null;
  readonly resync: PollRequest["resync"];
  /** `newer` unless the poll says less. */
  readonly reader?: HeadReader;
}

export interface Delivery {
  /** Null: nothing waits. */
  readonly answer: PollResponse | null;
  /** Where the node stands once it took all of it; null when that cannot be told. */
  readonly standing: Standing | null;
}

export type FindDelivery = (query: DeliveryQuery) => Promise<Delivery>;

const NONE: SnapshotVersion = { epoch: 0, version: 0 };
const VOID_INTENTS_MAX = 16;

export function createDeliveryFinder(
  db: Database,
  newestBundle: BundleSource,
  authority: Authority,
  revoked: Pick<RevokedReader, "read"> = createRevokedReader(db),
): FindDelivery {
  return createBatcher<DeliveryQuery, Delivery>(
    async (queries) => {
      const [time, commands, voids] = await Promise.all([
        revoked.read(queries.map(({ nodeId }) => nodeId)),
        findCommands(db, queries),
        findVoidIntents(db, queries),
      ]);
      const { bundle, authority: signing } = await bundleInStep(newestBundle, authority, db); // after the commands: it knows who signed them
      const mayDate = maySignAt(signing, time.now); // (2)
      const asked = queries.map((query) => ({
        ...query,
        head: mayDate && (commands.has(query.nodeId) || isHeadDue(query, time)), // (1)
      }));
      const rows = await findSnapshots(db, asked, bundle);
      const sign = mayDate ? signHeadFor(signing, bundle, time) : null;
      return asked.map(({ nodeId, have, mark, headIssuedAt, head, reader }, at) => {
        const own = rows[at]!;
        const bundles = bundlesAfter(bundle, have.trust_bundle ?? NONE);
        const sent = commands.get(nodeId) ?? [];
        const void_intents = (voids.get(nodeId) ?? []).slice(-VOID_INTENTS_MAX);
        const { answer, isCut } = putTogether(own, bundles, {
          head: head && sign !== null ? sign(nodeId, own, reader) : null,
          commands: sent.map(({ delivery }) => delivery),
          void_intents,
        });
        const before = { have, mark, headIssuedAt: head ? time.now : headIssuedAt };
        const isPlain =
          !isCut && bundles.length === 0 && void_intents.length === 0 && sent.length < COMMANDS_MAX;
        const isKnown = isPlain && !mayLackRevocation({ nodeId, ...before }, time);
        return { answer, standing: isKnown ? standingAfter(before, own, sent) : null };
      });
    },
    { itemsMax: 100, lingerMs: 10, concurrentMax: 3 },
  );
}

function standingAfter(
  { have, mark, headIssuedAt }: Standing,
  rows: readonly SnapshotRow[],
  sent: readonly SentCommand[],
): Standing {
  const handed = rows.filter((row) => row.handed !== "nothing");
  const taken = handed.map(({ scope, epoch, version }) => [scope, { epoch, version }] as const);
  return {
    have: taken.length === 0 ? have : { ...have, ...Object.fromEntries(taken) },
    mark: Math.max(mark, ...sent.map(({ sequence }) => sequence)),
    headIssuedAt,
  };
}
