/**
 * What was revoked, for heads (SNAP-10): everyone's is read when it changed, a node's own each time.
 *
 * 1. The cached set is stale when the key of its rows changed: their count, the newest and the sum of their numbers, the
 *    newest date. A row may be committed after one with a higher number, and a date that was ahead is corrected.
 * 2. A head names all of it: what is too much for the head stands in pages, which are the same for every node.
 * 3. An older agent refuses a head with a kind that it does not know: its heads and pages leave those kinds out.
 */
import { FairleadError } from "../../core/errors.ts";
import type { Digest, NodeId } from "../../core/ids.ts";
import {
  NEWER_KINDS,
  pageRevocations,
  REVOCATION_PAGES_MAX,
  type Revocation,
} from "../../core/snapshot/revocation.ts";
import { sealPage, type SealedPage } from "../../trust/revocation-page.ts";
import type { Database } from "../db/database.ts";
import type { AuthorityTime, HeadReader } from "./heads.ts";

interface Named {
  readonly rest: readonly Revocation[];
  readonly pages: readonly SealedPage[];
}

interface PagedSet extends Readonly<Record<HeadReader, Named>> {
  readonly newestAt: number;
}

export interface RevokedReader {
  read(nodeIds: readonly NodeId[]): Promise<AuthorityTime>;
  /** Of what a head of this node names; throws NOT_FOUND. */
  page(nodeId: NodeId, digest: Digest): Promise<Buffer>;
}

interface Row {
  readonly node_id: NodeId | null;
  readonly kind: Revocation["kind"];
  readonly id: string;
  readonly at: Date;
}

const NOTHING_NAMED: Named = { rest: [], pages: [] };
const NOTHING: PagedSet = { newestAt: -Infinity, newer: NOTHING_NAMED, older: NOTHING_NAMED };

export function createRevokedReader(db: Database): RevokedReader {
  let kept = { key: "", set: NOTHING };

  async function everyone(key: string): Promise<PagedSet> {
    if (kept.key === key) return kept.set; // (1)
    const rows = await db<Row[]>`
      select node_id, kind, subject as id, created_at as at from authority_revocations where node_id is null order by seq`;
    kept = { key, set: pagedSet(rows) };
    return kept.set;
  }

  async function ownOf(nodeIds: readonly NodeId[]): Promise<Map<NodeId | null, Row[]>> {
    const rows = await db<Row[]>`
      select node_id, kind, subject as id, created_at as at from authority_revocations
      where node_id = any(${nodeIds}) order by seq`;
    return Map.groupBy(rows, (row) => row.node_id);
  }

  async function read(nodeIds: readonly NodeId[]): Promise<AuthorityTime> {
    const [[seen], own] = await Promise.all([
      db<{ now: Date; key: string }[]>`
        select clock_timestamp() as now, concat_ws(':', count(*), max(seq), sum(seq), max(created_at)) as key
        from authority_revocations where node_id is null`,
      ownOf(nodeIds),
    ]);
    const all = await everyone(seen!.key);
    const sets = new Map<NodeId, PagedSet>();
    const ownSet = (nodeId: NodeId): PagedSet => {
      const known = sets.get(nodeId) ?? pagedSet(own.get(nodeId) ?? []);
      sets.set(nodeId, known);
      return known;
    };
    return {
      now: seen!.now.getTime(),
      newestAt: (nodeId) => Math.max(ownSet(nodeId).newestAt, all.newestAt),
      paged: (nodeId, reader = "newer") => ({
        rest: [...ownSet(nodeId)[reader].rest, ...all[reader].rest],
        pages: [...ownSet(nodeId)[reader].pages, ...all[reader].pages],
      }),
    };
  }

  return {
    read,
    async page(nodeId, digest) {
      const { paged } = await read([nodeId]);
      const pages = [...paged(nodeId, "newer").pages, ...paged(nodeId, "older").pages];
      const found = pages.find((page) => page.digest === digest);
      if (found === undefined) throw new FairleadError("NOT_FOUND", "no head of this node names such a page");
      return found.bytes;
    },
  };
}

function pagedSet(oldestFirst: readonly Row[]): PagedSet {
  if (oldestFirst.length === 0) return NOTHING;
  const older = oldestFirst.filter(({ kind }) => !NEWER_KINDS.includes(kind)); // (3)
  const newer = named(oldestFirst);
  return {
    // By date, not by number: a transaction may commit later than one that began after it.
    newestAt: oldestFirst.reduce((newest, { at }) => Math.max(newest, at.getTime()), -Infinity),
    newer,
    older: older.length === oldestFirst.length ? newer : named(older),
  };
}

function named(oldestFirst: readonly Row[]): Named {
  const { pages, rest } = pageRevocations(oldestFirst.map(({ kind, id }) => ({ id, kind })));
  if (pages.length > REVOCATION_PAGES_MAX / 2)
    throw new FairleadError("INTERNAL", `${oldestFirst.length} revocations are more than a head can name`);
  return { rest, pages: pages.map(sealPage) }; // (2)
}
