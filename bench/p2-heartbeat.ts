/**
 * P2: heartbeat to durable row.
 *
 * 1. Ours and the peer get the same bytes from the same generator over the same kind of connections, in turns.
 * 2. A heartbeat that was answered is a row that was written: the table's own counters are compared with ours.
 */
import { coresDuring, cpuOf } from "./support/cpu.ts";
import { enrollNodes, type EnrolledNode } from "./support/enroll.ts";
import type { Measurement } from "./support/measurement.ts";
import { startSite, type Site } from "./support/site.ts";
import { median } from "./support/statistics.ts";
import { startWorker, type Worker } from "./support/worker.ts";
import type { Workplace } from "./support/workplace.ts";
import type { jobs as peerJobs } from "./heartbeat/fastify-peer.ts";
import type { jobs as loadJobs } from "./heartbeat/load.ts";
import { upsertRate } from "./heartbeat/rows-alone.ts";
import { sleep } from "../src/host/clock.ts";

/** Enough that no node reaches its own limit of requests a second when the listener is flooded. */
const NODES = 1_000;
const ROUNDS = 8;
const ROUND_SECONDS = 3;
const RATE = 3_500;
const RATE_SECONDS = 20;
const LIMIT_SECONDS = 5;
/** A backend tells its counters at most this long after its last statement. */
const COUNTERS_LAG_MS = 11_000;

const REACH = { ratio: 0.6, p99Ms: 250, cores: 0.5 } as const;

export async function run(place: Workplace): Promise<Measurement> {
  const site = await startSite(place);
  place.say(`P2: enrolling ${NODES} nodes`);
  const nodes = await enrollNodes(site, NODES);
  const peer = startWorker<typeof peerJobs>(place, new URL("./heartbeat/fastify-peer.ts", import.meta.url));
  const load = startWorker<typeof loadJobs>(place, new URL("./heartbeat/load.ts", import.meta.url));
  const { url: peerUrl } = await peer.ask("listen", { keysDir: site.keysDir });
  for (const url of [site.agentUrl, peerUrl]) await load.ask("connect", { url, nodes });

  const meters = { ...site.cpu, peer: () => cpuOf(peer.pid), generator: () => cpuOf(load.pid) };
  const flood = (url: string, seconds = ROUND_SECONDS) =>
    coresDuring(meters, () => load.ask("flood", { url, seconds }));
  place.say("P2: warming up");
  for (const url of [site.agentUrl, peerUrl]) await flood(url, 3);

  const ours: Round[] = [];
  const theirs: Round[] = [];
  const rowsBefore = await rowsWritten(site);
  for (let round = 1; round <= ROUNDS; round += 1) {
    place.say(`P2: round ${round} of ${ROUNDS}`);
    ours.push(await flood(site.agentUrl)); // (1)
    theirs.push(await flood(peerUrl));
  }
  const answered = ours.reduce((sum, { result }) => sum + result.sent, 0);
  await checkRows(site, nodes, answered, (await rowsWritten(site)) - rowsBefore); // (2)

  place.say(`P2: ${RATE} a second for ${RATE_SECONDS} s`);
  const paced = await paceOf(load, site.agentUrl, meters);
  place.say(`P2: the peer, ${RATE} a second for ${RATE_SECONDS} s`);
  const pacedPeer = await paceOf(load, peerUrl, meters);
  place.say("P2: the statement alone");
  const limit = await upsertRate(site.db, nodes, LIMIT_SECONDS);
  return measurement(ours, theirs, paced, pacedPeer.cores.peer, limit);
}

type Cores = Readonly<Record<"server" | "postgres" | "restate" | "peer" | "generator", number>>;
interface Round {
  readonly result: { readonly perSecond: number; readonly sent: number };
  readonly cores: Cores;
}

const paceOf = (load: Worker<typeof loadJobs>, url: string, meters: Parameters<typeof coresDuring>[0]) =>
  coresDuring(meters as Record<keyof Cores, () => Promise<number>>, () =>
    load.ask("pace", { url, rate: RATE, seconds: RATE_SECONDS }),
  );

function measurement(
  ours: readonly Round[],
  theirs: readonly Round[],
  { result: paced, cores }: Awaited<ReturnType<typeof paceOf>>,
  peerCores: number,
  limit: number,
): Measurement {
  const rate = (rounds: readonly Round[]) => median(rounds.map(({ result }) => result.perSecond));
  const share = (rounds: readonly Round[], who: keyof Cores) =>
    median(rounds.map((round) => round.cores[who]));
  const used = cores.server + cores.postgres;
  const goodRatio = rate(ours) / rate(theirs) >= REACH.ratio;
  const goodP99 = paced.p99 < REACH.p99Ms;
  const goodCores = used < REACH.cores;
  return {
    ours: rate(ours),
    peer: rate(theirs),
    limit,
    unit: "heartbeats/s",
    reached: goodRatio && goodP99 && goodCores,
    also: [
      { name: "p99 at 3,500/s", value: paced.p99, unit: "ms", reach: `< ${REACH.p99Ms}`, reached: goodP99 },
      { name: "p50 at 3,500/s", value: paced.p50, unit: "ms" },
      { name: "rate kept at 3,500/s", value: paced.perSecond, unit: "heartbeats/s" },
      {
        name: "server + postgres at 3,500/s",
        value: used,
        unit: "cores",
        reach: `< ${REACH.cores}`,
        reached: goodCores,
      },
      { name: "server at 3,500/s", value: cores.server, unit: "cores" },
      { name: "postgres at 3,500/s", value: cores.postgres, unit: "cores" },
      { name: "peer at 3,500/s, which stores nothing", value: peerCores, unit: "cores" },
      { name: "server when flooded", value: share(ours, "server"), unit: "cores" },
      { name: "postgres when flooded", value: share(ours, "postgres"), unit: "cores" },
      { name: "generator when ours is flooded", value: share(ours, "generator"), unit: "cores" },
      { name: "peer when flooded", value: share(theirs, "peer"), unit: "cores" },
      { name: "generator when the peer is flooded", value: share(theirs, "generator"), unit: "cores" },
    ],
  };
}

async function rowsWritten({ db }: Site): Promise<number> {
  await sleep(COUNTERS_LAG_MS);
  const [row] = await db<{ written: number }[]>`
    select n_tup_ins + n_tup_upd as written from pg_stat_user_tables where relname = 'node_heartbeats'`;
  return row!.written;
}

async function checkRows(
  site: Site,
  nodes: readonly EnrolledNode[],
  answered: number,
  written: number,
): Promise<void> {
  const [row] = await site.db<{ fresh: number }[]>`
    select count(*)::int as fresh from node_heartbeats
    where received_at > now() - make_interval(secs => ${ROUND_SECONDS * 3 + COUNTERS_LAG_MS / 1000})`;
  if (row!.fresh !== nodes.length) throw new Error(`${row!.fresh} of ${nodes.length} nodes have a fresh row`);
  if (written < answered) throw new Error(`${answered} heartbeats were answered and ${written} rows written`);
}
