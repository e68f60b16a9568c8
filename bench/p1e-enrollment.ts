/**
 * P1e: machines that enroll with one key, from their request to their certificate.
 *
 * 1. Ours is each machine on a TLS connection of its own. Requests and keys are made before the clock starts: a machine
 *    makes its own.
 * 2. The limit is what no design saves: the request's signature verified and the certificate signed, one after the other.
 */
import { ClusterId, NodeId } from "../src/core/ids.ts";
import { systemClock } from "../src/host/clock.ts";
import { issueNodeCertificate } from "../src/server/identity/node-certificate.ts";
import { readSigningRequest } from "../src/server/identity/signing-request.ts";
import { loadOrCreateSiteCa } from "../src/server/identity/site-ca.ts";
import { coresDuring } from "./support/cpu.ts";
import { askAll, prepareNodes, type Asking } from "./support/enroll.ts";
import type { Measurement } from "./support/measurement.ts";
import { startSite, type Site } from "./support/site.ts";
import type { Workplace } from "./support/workplace.ts";

const NODES_MAX = 5_000;
const WARM_UP = 200;
const LIMIT_NODES = 1_000;
const REACH_PER_SECOND = 500;

export async function run(place: Workplace): Promise<Measurement> {
  const site = await startSite(place);
  const count = Math.min(place.options.nodes, NODES_MAX);
  place.say(`P1e: warming up, and making ${count} keys`);
  await askAll(site, await prepareNodes(site, WARM_UP, "warm"), { keepAlive: false });
  const asking = await prepareNodes(site, count, "own");
  place.say(`P1e: ${count} machines enroll, each on its own connection`);
  const own = await timed(site, asking, false); // (1)
  place.say(`P1e: ${count} machines enroll over kept connections`);
  const kept = await timed(site, await prepareNodes(site, count, "kept"), true);
  place.say("P1e: signatures alone");
  const limit = await signaturesAlone(site, asking.slice(0, LIMIT_NODES));
  return {
    ours: own.perSecond,
    peer: null,
    limit,
    unit: "nodes/s",
    reached: own.perSecond >= REACH_PER_SECOND,
    also: [
      { name: "machines", value: count, unit: "" },
      { name: "over kept connections", value: kept.perSecond, unit: "nodes/s" },
      { name: "server", value: own.cores.server, unit: "cores" },
      { name: "postgres", value: own.cores.postgres, unit: "cores" },
      { name: "machines themselves", value: own.cores.machines, unit: "cores" },
    ],
  };
}

async function timed(site: Site, asking: readonly Asking[], keepAlive: boolean) {
  const own = async () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6;
  const began = systemClock.monotonic();
  const { cores } = await coresDuring({ ...site.cpu, machines: own }, () =>
    askAll(site, asking, { keepAlive }),
  );
  return { perSecond: (asking.length / (systemClock.monotonic() - began)) * 1000, cores };
}

async function signaturesAlone(site: Site, asking: readonly Asking[]): Promise<number> {
  const ca = await loadOrCreateSiteCa(site.keysDir, systemClock);
  const cluster = ClusterId.parse("00000000-0000-4000-8000-000000000001");
  const node = NodeId.parse("00000000-0000-4000-8000-000000000002");
  const began = systemClock.monotonic();
  for (const { body } of asking) {
    const key = await readSigningRequest((JSON.parse(body) as { csr: string }).csr);
    issueNodeCertificate(ca, cluster, node, key, systemClock.now()); // (2)
  }
  return (asking.length / (systemClock.monotonic() - began)) * 1000;
}
