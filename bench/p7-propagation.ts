/**
 * P7: from the commit of a row to the snapshot in force on the nodes it touches, while everyone is connected.
 *
 * 1. Every node is enrolled, has all its snapshots and waits in its poll before the clock starts.
 * 2. The clock starts when the commit of one policy's row is known, and stops on a node when its snapshot counts there:
 *    for the real ones after all checks and on disk, for the rest when it was received.
 * 3. A change that was not applied by everyone it touches within the time is an error, not a sample.
 */
import type { Identity } from "../src/agent/identity/store.ts";
import { ClusterId, Digest, NodeId } from "../src/core/ids.ts";
import { TrustBundle } from "../src/core/snapshot/trust-bundle.ts";
import { sleep } from "../src/host/clock.ts";
import { digestOf } from "../src/trust/digest.ts";
import { coresDuring, cpuOf } from "./support/cpu.ts";
import { enrollNodes, type EnrolledNode } from "./support/enroll.ts";
import type { Measurement } from "./support/measurement.ts";
import { startSite, type Site } from "./support/site.ts";
import { percentile } from "./support/statistics.ts";
import { startWorker, type Worker } from "./support/worker.ts";
import type { Workplace } from "./support/workplace.ts";
import type { Applied, jobs as fleetJobs } from "./snapshots/fleet.ts";
import { monotonicMs } from "./snapshots/monotonic.ts";

const FLEETS = 2;
const REAL = 20;
const CHANGES = 200;
const APPLIED_TIMEOUT_MS = 30_000;
const LOOK_MS = 20;
const REACH = { p99Ms: 1_000 } as const;

type Fleet = Worker<typeof fleetJobs>;

export async function run(place: Workplace): Promise<Measurement> {
  const site = await startSite(place);
  place.say(`P7: enrolling ${place.options.nodes} nodes`);
  const nodes = await enrollNodes(site, place.options.nodes);
  const organizations = await makeOrganizations(site, nodes);
  const fleets = await connect(place, site, nodes);
  await settled(site);
  await news(fleets);

  place.say(`P7: ${CHANGES} changes, one organization each`);
  const meters = {
    ...site.cpu,
    agents: async () => sum(await Promise.all(fleets.map(({ pid }) => cpuOf(pid)))),
  };
  const { result: samples, cores } = await coresDuring(meters, async () => {
    const all: Sample[] = [];
    for (let turn = 0; turn < CHANGES; turn += 1) {
      const { id, members } = organizations[turn % organizations.length]!;
      all.push(...(await change(site, fleets, id, members)));
    }
    return all;
  });
  place.say("P7: one change for everyone");
  const everyone = await change(site, fleets, null, nodes.length);

  const real = new Set(nodes.slice(0, REAL).map(({ nodeId }) => nodeId));
  const ms = (of: readonly Sample[]) => of.map((sample) => sample.ms);
  const verified = ms(samples.filter(({ nodeId }) => real.has(nodeId)));
  const p99 = percentile(ms(samples), 0.99);
  const verifiedP99 = percentile(verified, 0.99);
  const reached = p99 < REACH.p99Ms && verifiedP99 < REACH.p99Ms;
  return {
    ours: p99,
    peer: null,
    limit: null,
    unit: "ms",
    reached,
    also: [
      { name: "p50", value: percentile(ms(samples), 0.5), unit: "ms" },
      { name: "p50, verified and on disk", value: percentile(verified, 0.5), unit: "ms" },
      {
        name: "p99, verified and on disk",
        value: verifiedP99,
        unit: "ms",
        reach: `< ${REACH.p99Ms}`,
        reached: verifiedP99 < REACH.p99Ms,
      },
      { name: "nodes", value: nodes.length, unit: "" },
      { name: "nodes that a change touches", value: organizations[0]!.members, unit: "" },
      { name: "one change for everyone, p50", value: percentile(ms(everyone), 0.5), unit: "ms" },
      { name: "one change for everyone, last", value: Math.max(...ms(everyone)), unit: "ms" },
      { name: "server", value: cores.server, unit: "cores" },
      { name: "postgres", value: cores.postgres, unit: "cores" },
      { name: "agents", value: cores.agents, unit: "cores" },
    ],
  };
}

interface Organization {
  readonly id: string;
  readonly members: number;
}

/** One organization for each real node, with the others spread over as many organizations as make twenty members each. */
async function makeOrganizations({ db }: Site, nodes: readonly EnrolledNode[]): Promise<Organization[]> {
  const count = Math.max(REAL, Math.ceil(nodes.length / 20));
  const made = await db<{ id: string }[]>`
    insert into organizations (name) select 'org-' || n from generate_series(1, ${count}::int) n returning id`;
  const owners = nodes.map((_, at) => made[at % count]!.id);
  await db`
    insert into memberships (node_id, organization_id)
    select * from unnest(${nodes.map(({ nodeId }) => nodeId)}::uuid[], ${owners}::uuid[])`;
  await db`
    insert into policies (kind, name, organization_id, body)
    select 'route', 'route-' || coalesce(o.name, 'everyone'), o.id, ${db.json(routeBody(0))}
    from (select id, name from organizations union all select null, null) o`;
  return made
    .slice(0, REAL)
    .map(({ id }) => ({ id, members: owners.filter((owner) => owner === id).length }));
}

const routeBody = (ttl_ms: number) => ({
  destinations: ["10.0.0.0/8", "192.168.0.0/16"],
  via: "mesh",
  ttl_ms,
});

/** (1) */
async function connect(place: Workplace, site: Site, nodes: readonly EnrolledNode[]): Promise<Fleet[]> {
  place.say("P7: connecting");
  const worker = () => startWorker<typeof fleetJobs>(place, new URL("./snapshots/fleet.ts", import.meta.url));
  const [verifying, ...fleets] = Array.from({ length: 1 + FLEETS }, worker) as [Fleet, ...Fleet[]];
  const real = nodes.slice(0, REAL);
  const url = site.agentUrl;
  const folder = `${place.folder}/verifying`;
  await Promise.all([
    verifying.ask("verify", { url, nodes: real, folder, identities: await identitiesOf(site, real) }),
    ...fleets.map((fleet, at) =>
      fleet.ask("simulate", { url, nodes: nodes.slice(REAL).filter((_, index) => index % FLEETS === at) }),
    ),
  ]);
  return [verifying, ...fleets];
}

async function identitiesOf({ db, agentUrl }: Site, nodes: readonly EnrolledNode[]): Promise<Identity[]> {
  const [row] = await db<{ id: string; content: unknown }[]>`
    select c.id, b.content from clusters c cross join trust_bundles b order by b.epoch desc, b.version desc limit 1`;
  const { root } = TrustBundle.parse(row!.content);
  return nodes.map(({ nodeId, key, cert, ca }) => ({
    node_id: NodeId.parse(nodeId),
    cluster_id: ClusterId.parse(row!.id),
    agent_url: agentUrl,
    roles: ["egress_service"],
    token_digest: Digest.parse(digestOf(Buffer.from(nodeId))),
    root,
    ca,
    private_key: key,
    certificate_chain: cert,
  }));
}

/** Until nothing is left to compile. */
async function settled({ db }: Site): Promise<void> {
  for (;;) {
    const [row] = await db<{ left: number }[]>`select count(*)::int as left from snapshot_dirty`;
    if (row!.left === 0) return sleep(2_000).then(() => undefined);
    await sleep(200);
  }
}

interface Sample {
  readonly nodeId: string;
  readonly ms: number;
}

/** (2), (3) */
async function change(
  { db }: Site,
  fleets: readonly Fleet[],
  organization: string | null,
  members: number,
): Promise<Sample[]> {
  const body = db.json(routeBody(Math.ceil(Math.random() * 1e9)));
  await db`update policies set body = ${body} where organization_id is not distinct from ${organization}`;
  const committed = monotonicMs();
  const applied = new Map<string, number>();
  for (
    const until = performance.now() + APPLIED_TIMEOUT_MS;
    performance.now() < until;
    await sleep(LOOK_MS)
  ) {
    for (const { nodeId, at } of await news(fleets)) applied.set(nodeId, at - committed);
    if (applied.size >= members) return [...applied].map(([nodeId, ms]) => ({ nodeId, ms }));
  }
  throw new Error(`${applied.size} of ${members} nodes applied the change in time`);
}

async function news(fleets: readonly Fleet[]): Promise<Applied[]> {
  return (await Promise.all(fleets.map((fleet) => fleet.ask("applied", undefined)))).flat();
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
