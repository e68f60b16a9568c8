/**
 * Compiles what was marked, a set at a time (SNAP-3).
 *
 * 1. Claim, compile, publish, unmark and wake are one transaction: killed anywhere in it, the marks are still there.
 * 2. Marks are read before the rows. A change that commits later has a mark of its own; what of it was read already is
 *    published without the rest, until the next set.
 * 3. A node is compiled by one replica at a time: whose row another one holds is left to that one. No node is
 *    waited for here, so it is in no circle of waiting.
 * 4. What would come out the same is not published: same content, roles, organizations, keys and epoch, not yet due.
 * 5. All marks of a node are worked off together, however far apart they are: what it may do and the organizations
 *    that it is in come from one another, and a node refuses the one before the other.
 */
import type { NodeId } from "../../core/ids.ts";
import { scopesOf, type CompiledScope } from "../../core/snapshot/roles.ts";
import type { Database, Transaction } from "../db/database.ts";
import { notifyNodes } from "../rollout/wake.ts";
import type { Authority } from "./authority.ts";
import { compileBatch, type CompiledItem, type Refusal } from "./compile-batch.ts";
import { loadStates } from "./load-state.ts";
import { publishSealed, readEpoch, type NodeFacts } from "./publish.ts";
import { recordRefusals } from "./refusals.ts";
import { keyOf, readHeaders, type LastHeader, type NodeScope } from "./stored.ts";

const NODES_PER_SET = 500;
/** The oldest, among which a replica finds nodes that no other one has. */
const MARKS_LOOKED_AT = 2_000;

export interface PublishedSet {
  /** Nodes whose marks were seen, and of them those whose marks are done with. */
  readonly claimed: number;
  readonly cleared: number;
  readonly published: number;
  readonly unchanged: number;
  readonly refused: readonly Refusal[];
}

interface Mark {
  readonly seq: number;
  readonly node_id: NodeId;
  readonly scope_type: CompiledScope;
  readonly force: boolean;
}

export const publishDirty = (db: Database, authority: Authority, now: () => number): Promise<PublishedSet> =>
  db.begin(async (tx) => {
    const waiting = await findMarked(tx);
    if (waiting.length === 0) return { claimed: 0, cleared: 0, published: 0, unchanged: 0, refused: [] };
    const mine = await lockFreeNodes(tx, waiting);
    const marks = await tx<Mark[]>`
      select seq, node_id, scope_type, force from snapshot_dirty where node_id = any(${mine}) order by seq`; // (2) (5)
    await authority.follow?.(tx);
    const result = await publishMarked(tx, authority, marks, now());
    await tx`delete from snapshot_dirty where seq = any(${marks.map((mark) => mark.seq)})`; // (1)
    return { claimed: waiting.length, cleared: mine.length, ...result };
  });

/** Who has waited longest. */
async function findMarked(tx: Transaction): Promise<NodeId[]> {
  const rows = await tx<{ node_id: NodeId }[]>`
    select node_id from (select seq, node_id from snapshot_dirty order by seq limit ${MARKS_LOOKED_AT}) oldest
    group by node_id order by min(seq)`;
  return rows.map((row) => row.node_id);
}

/** Marks of a node that does not exist any more are done with as well. */
async function lockFreeNodes(tx: Transaction, ids: readonly NodeId[]): Promise<NodeId[]> {
  const locked = await tx<{ id: NodeId }[]>`
    select n.id from unnest(${ids}::uuid[]) with ordinality as waiting(id, place) join nodes n on n.id = waiting.id
    order by place limit ${NODES_PER_SET} for no key update of n skip locked`; // (3)
  const mine = locked.map(({ id }) => id);
  if (mine.length > 0) return mine;
  const known = await tx<{ id: NodeId }[]>`select id from nodes where id = any(${ids})`;
  return [...new Set(ids).difference(new Set(known.map(({ id }) => id)))];
}

async function publishMarked(
  tx: Transaction,
  authority: Authority,
  marks: readonly Mark[],
  now: number,
): Promise<Pick<PublishedSet, "published" | "unchanged" | "refused">> {
  const wanted = new Map<string, NodeScope & { readonly force: boolean }>();
  for (const { node_id: nodeId, scope_type: scope, force } of marks) {
    const key = keyOf({ nodeId, scope });
    wanted.set(key, { nodeId, scope, force: force || wanted.get(key)?.force === true });
  }
  const work = [...wanted.values()];
  const [states, epoch, before] = await Promise.all([
    loadStates(tx, authority.clusterId, [...new Set(work.map((item) => item.nodeId))], scopesIn(work)),
    readEpoch(tx),
    readHeaders(tx, work),
  ]);
  const nodes = new Map([...states].map(([id, { node }]) => [id, { ...node, epoch }]));
  // A scope that no role of the node can hold is emptied if it was published before, and is nothing otherwise.
  const held = work.filter(
    (item) =>
      before.has(keyOf(item)) || scopesOf(states.get(item.nodeId)?.node.roles ?? []).includes(item.scope),
  );
  const compiled = compileBatch(states, held);
  const signers = authority.signers().map(({ record }) => record.key_id);
  const needed = compiled.items.filter((item) => {
    const facts = { ...nodes.get(item.nodeId)!, signers };
    return wanted.get(keyOf(item))!.force || !isSame(item, before.get(keyOf(item)), facts, now); // (4)
  });
  const { published, refused } = await publishSealed(tx, authority, needed, { nodes, before }, now);
  const allRefused = [...compiled.refused, ...refused];
  await recordRefusals(tx, held, allRefused, now);
  await notifyNodes(tx, [...new Set(published.map((item) => item.nodeId))]);
  const unchanged = compiled.items.length - needed.length;
  return { published: published.length, unchanged, refused: allRefused };
}

const scopesIn = (work: readonly NodeScope[]): Set<CompiledScope> => new Set(work.map((item) => item.scope));

interface HeaderFacts extends NodeFacts {
  readonly signers: readonly string[];
}

function isSame(
  item: CompiledItem,
  last: LastHeader | undefined,
  { roles, organizationIds, epoch, signers }: HeaderFacts,
  now: number,
): boolean {
  if (last === undefined || last.contentHash !== item.content.content_hash) return false;
  if (last.epoch !== epoch || last.refreshAfter <= now) return false;
  const header = JSON.parse(last.header.toString("utf8")) as {
    readonly roles: readonly string[];
    readonly organization_ids: readonly string[];
    readonly signer_key_id: string;
    readonly co_signer_key_ids?: readonly string[];
  };
  const signedBy = [header.signer_key_id, ...(header.co_signer_key_ids ?? [])];
  return (
    equal(header.roles, roles) && equal(header.organization_ids, organizationIds) && equal(signedBy, signers)
  );
}

const equal = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, index) => item === b[index]);
