/**
 * The one way to publish (SNAP-3, SNAP-11): number, sign and store the next version of each node and scope named.
 *
 * 1. The nodes' rows are locked first, so that two publishers of one node come one after the other.
 * 2. Versions of a node and scope go up by one within an epoch and begin at 1 in a new one.
 * 3. Nodes with the same content share its bytes.
 */
import { randomUUID } from "node:crypto";
import { FairleadError } from "../../core/errors.ts";
import type { Json } from "../../core/json.ts";
import type { NodeId, SnapshotId } from "../../core/ids.ts";
import { LIMITS } from "../../core/limits.ts";
import type { SnapshotVersion } from "../../core/snapshot/envelope.ts";
import type { CompiledScope } from "../../core/snapshot/roles.ts";
import type { NodeRole } from "../../core/snapshot/scopes.ts";
import { headerBytes, joinFrame } from "../../trust/frame.ts";
import { sealContent, type SealedContent } from "../../trust/sealed-content.ts";
import { envelopeOf, signSnapshotHeaders } from "../../trust/snapshot.ts";
import type { Transaction } from "../db/database.ts";
import { partByPart, pipelined } from "../db/pipelined.ts";
import { isOfReplica, signersAt, type Authority } from "./authority.ts";
import { storeContents } from "./contents.ts";
import { refusalOf, type CompiledItem, type Refusal } from "./compile-batch.ts";
import { createIncrements, type Increments } from "./increments.ts";
import {
  keyOf,
  readPublished,
  storeSnapshots,
  type LastPublished,
  type NewSnapshot,
  type NodeScope,
} from "./stored.ts";

export const SIGNED_AT_ONCE = 200;

export interface SnapshotItem extends NodeScope {
  readonly content: Json;
}

export interface PublishedSnapshot extends NodeScope, SnapshotVersion {
  /** Null where the node has to be looked up: there is an increment, which is shorter. */
  readonly frame: (() => Buffer) | null;
}

export async function publishSnapshots(
  tx: Transaction,
  authority: Authority,
  items: readonly SnapshotItem[],
  now: number,
): Promise<PublishedSnapshot[]> {
  if (items.length === 0) return [];
  const standing = await lockStanding(tx, authority, items);
  return publishLocked(tx, authority, items, standing, now);
}

/** Locks the nodes, and reads what their next versions come after. */
export async function lockStanding(
  tx: Transaction,
  authority: Authority,
  places: readonly NodeScope[],
): Promise<Standing> {
  const ids = [...new Set(places.map(({ nodeId }) => nodeId))];
  const [, , nodes, before] = await pipelined(
    () => tx`select 1 from nodes where id = any(${ids}) order by id for no key update`, // (1)
    () => authority.follow?.(tx),
    () => readNodes(tx, ids),
    () => readPublished(tx, places),
  );
  return { nodes, before };
}

export async function publishLocked(
  tx: Transaction,
  authority: Authority,
  items: readonly SnapshotItem[],
  standing: Standing,
  now: number,
): Promise<PublishedSnapshot[]> {
  const { published, refused } = await publishSealed(tx, authority, sealEach(items), standing, now);
  const [first] = refused;
  if (first !== undefined) throw new FairleadError(first.code, first.message);
  return published;
}

/** Most nodes of a batch get the same: it is looked through once. */
function sealEach(items: readonly SnapshotItem[]): CompiledItem[] {
  const sealed = new Map<string, SealedContent>();
  return items.map((item) => {
    const key = `${item.scope} ${JSON.stringify(item.content)}`;
    const content = sealed.get(key) ?? sealContent(item.scope, item.content);
    sealed.set(key, content);
    return { ...item, content };
  });
}

/** For who holds the nodes' locks already. What cannot be signed for one node does not stop the others. */
export async function publishSealed(
  tx: Transaction,
  authority: Authority,
  items: readonly CompiledItem[],
  { nodes, before }: Standing,
  now: number,
): Promise<{ readonly published: PublishedSnapshot[]; readonly refused: Refusal[] }> {
  const [increments] = await pipelined(
    () => createIncrements(tx, items, before),
    () => storeContents(tx, items),
  );
  const refused: Refusal[] = [];
  function signEach(part: readonly CompiledItem[]): NewSnapshot[] {
    const drafted = part.flatMap((item) => {
      try {
        const last = before.get(keyOf(item));
        return [draftItem(authority, item, nodes.get(item.nodeId)!, last, increments, now)];
      } catch (error) {
        // A replica that cannot sign refuses no node: the transaction ends, and its marks stay.
        if (!(error instanceof FairleadError) || isOfReplica(error)) throw error;
        refused.push(refusalOf(item, error));
        return [];
      }
    });
    return signDrafted(authority, drafted, now);
  }
  const signed = await partByPart(items, SIGNED_AT_ONCE, signEach, (part) => storeSnapshots(tx, part));
  const published = signed.flat().map(({ nodeId, scope, header, increment, ...parts }) => ({
    nodeId,
    scope,
    epoch: header.authority_epoch,
    version: header.config_version,
    frame: increment === null ? () => joinFrame(parts.headerBytes, parts.content, parts.signatures) : null,
  }));
  return { published, refused };
}

/** Where things stand before the next version, by node and by node and scope. */
export interface Standing {
  readonly nodes: ReadonlyMap<NodeId, NodeFacts>;
  readonly before: ReadonlyMap<string, LastPublished>;
}

/** What a header says of its node. */
export interface NodeFacts {
  readonly id: NodeId;
  readonly roles: readonly NodeRole[];
  readonly organizationIds: readonly string[];
  readonly epoch: number;
}

type Drafted = Omit<NewSnapshot, "signatures">;

export function draftItem(
  authority: Authority,
  { nodeId, scope, content }: CompiledItem,
  node: NodeFacts,
  last: LastPublished | undefined,
  increments: Increments,
  now: number,
): Drafted {
  const draft = {
    snapshotId: randomUUID() as SnapshotId,
    clusterId: authority.clusterId,
    subject: nodeId,
    scope,
    ...(content.scope_ids === undefined ? {} : { scopeIds: content.scope_ids }),
    roles: node.roles,
    organizationIds: node.organizationIds,
    version: last?.epoch === node.epoch ? last.version + 1 : 1, // (2)
    epoch: node.epoch,
    issuedAt: now,
    lifetimeMs: lifetimeOf(scope),
  };
  const signers = signersAt(authority, now);
  const header = envelopeOf(draft, content.content_hash, signers);
  const increment = last?.epoch === node.epoch ? increments.sign(draft, last, content, signers) : null;
  return { nodeId, scope, header, headerBytes: headerBytes(header), content: content.bytes, increment };
}

export function signDrafted(authority: Authority, drafted: readonly Drafted[], now: number): NewSnapshot[] {
  if (drafted.length === 0) return [];
  const headers = drafted.map((snapshot) => snapshot.headerBytes);
  const signatures = signSnapshotHeaders(headers, signersAt(authority, now));
  return drafted.map((snapshot, at) => ({ ...snapshot, signatures: signatures[at]! }));
}

const lifetimeOf = (scope: CompiledScope): number =>
  scope === "service_assignment" ? LIMITS.assignmentLifetimeMs : LIMITS.snapshotLifetimeMs;

async function readNodes(tx: Transaction, ids: readonly NodeId[]): Promise<Map<NodeId, NodeFacts>> {
  const [epoch, rows] = await pipelined(
    () => readEpoch(tx),
    () => tx<Omit<NodeFacts, "epoch">[]>`
      select id, roles, organization_ids::text[] as "organizationIds" from node_authority where id = any(${ids})`,
  );
  return new Map(rows.map((row) => [row.id, { ...row, epoch }]));
}

export async function readEpoch(tx: Transaction): Promise<number> {
  const [row] = await tx<{ epoch: number }[]>`select epoch from clusters`;
  return row!.epoch;
}
