/**
 * P4: compile and sign scoped snapshots.
 *
 * 1. Ours is compile, seal and sign, from rows that PostgreSQL gave, for all nodes and four scopes of each. The limit is
 *    the bare signature over headers of the same bytes. Both run in turns.
 * 2. Every snapshot of the whole path is a row that was committed; one changed node publishes its own rows alone.
 */
import type { NodeState } from "../src/core/compile/rows.ts";
import type { NodeId } from "../src/core/ids.ts";
import type { Authority } from "../src/server/snapshots/authority.ts";
import { compileBatch } from "../src/server/snapshots/compile-batch.ts";
import { publishDirty } from "../src/server/snapshots/dirty.ts";
import { noIncrements } from "../src/server/snapshots/increments.ts";
import { loadStates } from "../src/server/snapshots/load-state.ts";
import { draftItem, signDrafted, SIGNED_AT_ONCE } from "../src/server/snapshots/publish.ts";
import type { Database } from "../src/server/db/database.ts";
import { migrate } from "../src/server/db/migrate.ts";
import { ensureCluster } from "../src/server/identity/cluster.ts";
import { generateSigner, type Signer } from "../src/trust/keys.ts";
import { fillModel, SCOPES } from "./snapshots/model.ts";
import type { Measurement } from "./support/measurement.ts";
import { startSite } from "./support/site.ts";
import { median } from "./support/statistics.ts";
import type { Workplace } from "./support/workplace.ts";

const ROUNDS = 5;
const REACH = { ratio: 0.4 } as const;

export async function run(place: Workplace): Promise<Measurement> {
  const count = place.options.nodes;
  const site = await startSite(place);
  const db = await site.freshDatabase("snapshots");
  await migrate(db);
  const { signer } = generateSigner();
  const authority: Authority = { clusterId: await ensureCluster(db), signers: () => [signer] };
  place.say(`P4: a model of ${count} nodes`);
  const ids = await fillModel(db, count);
  const states = await db.begin(async (tx) => loadStates(tx, authority.clusterId, ids, new Set(SCOPES)));

  const ours: number[] = [];
  const bare: number[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    place.say(`P4: round ${round} of ${ROUNDS}`);
    const { rate, header } = compileAndSign(authority, states, ids);
    ours.push(rate);
    bare.push(signingRate(signer, header, ids.length * SCOPES.length));
  }
  place.say("P4: the whole path, into rows");
  const first = await publishAll(db, authority, ids);
  const again = await publishOne(db, authority, ids[0]!);
  const [rate, limit] = [median(ours.slice(1)), median(bare.slice(1))];
  const goodRatio = rate / limit >= REACH.ratio;
  const goodOne = again.others === 0;
  return {
    ours: rate,
    peer: null,
    limit,
    unit: "snapshots/s",
    reached: goodRatio && goodOne,
    also: [
      {
        name: "of the bare signing rate",
        value: rate / limit,
        unit: "",
        reach: `≥ ${REACH.ratio}`,
        reached: goodRatio,
      },
      { name: "from marks to committed rows", value: first.rate, unit: "snapshots/s" },
      { name: "snapshots", value: first.published, unit: "" },
      { name: "one changed node publishes of its own", value: again.own, unit: "snapshots" },
      {
        name: "one changed node publishes of others",
        value: again.others,
        unit: "snapshots",
        reach: "0",
        reached: goodOne,
      },
      { name: "one changed node, from commit to rows", value: again.ms, unit: "ms" },
    ],
  };
}

/** (1) */
function compileAndSign(
  authority: Authority,
  states: ReadonlyMap<NodeId, NodeState>,
  ids: readonly NodeId[],
) {
  const work = ids.flatMap((nodeId) => SCOPES.map((scope) => ({ nodeId, scope })));
  const now = Date.now();
  let header: Buffer = Buffer.alloc(0);
  const began = performance.now();
  const { items, refused } = compileBatch(states, work);
  for (let at = 0; at < items.length; at += SIGNED_AT_ONCE) {
    const drafted = items.slice(at, at + SIGNED_AT_ONCE).map((item) => {
      const facts = { ...states.get(item.nodeId)!.node, epoch: 1 };
      return draftItem(authority, item, facts, undefined, noIncrements, now);
    });
    header = signDrafted(authority, drafted, now)[0]!.headerBytes;
  }
  const seconds = (performance.now() - began) / 1000;
  if (refused.length > 0 || items.length !== work.length) throw new Error("not everything was compiled");
  return { rate: items.length / seconds, header };
}

function signingRate(signer: Signer, header: Buffer, times: number): number {
  const began = performance.now();
  for (let count = 0; count < times; count += 1) signer.sign(header);
  return times / ((performance.now() - began) / 1000);
}

async function publishAll(db: Database, authority: Authority, ids: readonly NodeId[]) {
  await db`
    insert into snapshot_dirty (node_id, scope_type)
    select n, s from unnest(${ids}::uuid[]) as n cross join unnest(${SCOPES}::text[]) as s`;
  const began = performance.now();
  const published = await drain(db, authority);
  const rate = published / ((performance.now() - began) / 1000);
  const [rows] = await db<{ count: number }[]>`select count(*)::int as count from snapshots`;
  if (rows!.count !== published)
    throw new Error(`${published} were published and ${rows!.count} rows written`); // (2)
  return { published, rate };
}

async function publishOne(db: Database, authority: Authority, id: NodeId) {
  await db`update policies set updated_at = now()`;
  await db`
    insert into memberships (node_id, organization_id)
    select ${id}, o.id from organizations o
    where not exists (select 1 from memberships m where m.node_id = ${id} and m.organization_id = o.id) limit 1`;
  const began = performance.now();
  await drain(db, authority);
  const ms = performance.now() - began;
  const [rows] = await db<{ own: number; others: number }[]>`
    select count(*) filter (where node_id = ${id})::int as own, count(*) filter (where node_id <> ${id})::int as others
    from snapshots where config_version > 1`;
  return { ms, ...rows! };
}

async function drain(db: Database, authority: Authority): Promise<number> {
  for (let published = 0; ;) {
    const set = await publishDirty(db, authority, Date.now);
    if (set.claimed === 0) return published;
    published += set.published;
  }
}
