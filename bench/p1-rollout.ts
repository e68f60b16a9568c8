/**
 * P1: one rollout over many nodes, through everything that is real but the machines.
 *
 * 1. Nodes are enrolled, connected and waiting in their polls before the clock starts.
 * 2. The clock runs from the request to start until the rollout's own end; it counts only if every node succeeded.
 * 3. First in batches, each after the one before it; then the same fleet again, all nodes at once, as the peer does it.
 *    That one is the figure: a control plane in service is not new to what it does.
 * 4. The peer puts one small file on each host, the least that a change of a machine is. What it does with a module that
 *    only answers stands beside it.
 */
import { z } from "zod";
import { RolloutView } from "../src/core/protocol/operator-api.ts";
import { isActive } from "../src/core/rollout/states.ts";
import { sleep } from "../src/host/clock.ts";
import { coresDuring, cpuOf } from "./support/cpu.ts";
import { enrollNodes, NODE_TYPE, PROFILE } from "./support/enroll.ts";
import { fairlead } from "./support/fairlead.ts";
import { AFTER, BEFORE, LATER } from "./support/heartbeat.ts";
import type { Measurement } from "./support/measurement.ts";
import { startSite, type Site } from "./support/site.ts";
import { startWorker, type Worker } from "./support/worker.ts";
import type { Workplace } from "./support/workplace.ts";
import { ansibleRates } from "./rollout/ansible.ts";
import type { jobs as fleetJobs } from "./rollout/fleet.ts";
import { rowsAloneRate } from "./rollout/rows-alone.ts";

const BATCH_SIZE = 500;
const FLEETS = 2;
const LOOK_MS = 1_000;
const ROLLOUT_TIMEOUT_MS = 15 * 60_000;
const REACH = { nodesPerSecond: 1_000, timesPeer: 200 } as const;

export async function run(place: Workplace): Promise<Measurement> {
  const count = place.options.nodes;
  const site = await startSite(place);
  const { fleets, enrolledPerSecond } = await connectFleets(place, site, count);
  const inBatches = await createRollout(site, BEFORE, AFTER, ["--batch-size", String(BATCH_SIZE)]); // (3)
  place.say(`P1: rolling out to ${count} nodes in batches of ${BATCH_SIZE}`);
  const secondsInBatches = await secondsOf(site, inBatches, count);
  await checkFleets(fleets);
  const id = await createRollout(site, AFTER, LATER, ["--strategy", "all_at_once"]);
  place.say("P1: once more, all at once");
  const { result: seconds, cores } = await coresDuring(metersOf(site, fleets), () =>
    secondsOf(site, id, count),
  );
  await checkFleets(fleets);
  const { server, postgres, restate } = site.memory;
  const memory = { server: await server(), postgres: await postgres(), restate: await restate() };
  const [steps] = await site.db<{ generation: number }[]>`select generation from rollouts where id = ${id}`;
  const ours = count / seconds;

  place.say("P1: decisions and rows alone");
  const limit = await rowsAloneRate(await site.freshDatabase("rows_alone"), count);
  place.say("P1: ansible-core");
  const ansible = await ansibleRates(place); // (4)
  const peer = ansible?.file ?? null;
  const times = peer === null ? null : ours / peer;
  const reached = ours >= REACH.nodesPerSecond && (times === null || times >= REACH.timesPeer);
  return {
    ours,
    peer,
    limit,
    unit: "nodes/s",
    reached,
    also: [
      { name: "nodes", value: count, unit: "" },
      { name: "seconds", value: seconds, unit: "s" },
      { name: "steps of the rollout", value: steps!.generation, unit: "" },
      { name: `in batches of ${BATCH_SIZE}`, value: count / secondsInBatches, unit: "nodes/s" },
      { name: "server", value: cores.server, unit: "cores" },
      { name: "postgres", value: cores.postgres, unit: "cores" },
      { name: "restate", value: cores.restate, unit: "cores" },
      { name: "simulated agents", value: cores.agents, unit: "cores" },
      { name: "server", value: memory.server, unit: "MB" },
      { name: "postgres", value: memory.postgres, unit: "MB" },
      { name: "restate", value: memory.restate, unit: "MB" },
      ...(ansible === null
        ? []
        : [{ name: "the peer's module that only answers", value: ansible.answer, unit: "nodes/s" }]),
      { name: "enrolled before the clock started", value: enrolledPerSecond, unit: "nodes/s" },
    ],
  };
}

type Fleet = Worker<typeof fleetJobs>;

/** (1) */
async function connectFleets(place: Workplace, site: Site, count: number) {
  place.say(`P1: enrolling ${count} nodes`);
  const began = performance.now();
  const nodes = await enrollNodes(site, count);
  const enrolledPerSecond = count / ((performance.now() - began) / 1000);
  place.say(`P1: enrolled ${Math.round(enrolledPerSecond)} a second; connecting`);
  const fleets: Fleet[] = Array.from({ length: FLEETS }, () =>
    startWorker<typeof fleetJobs>(place, new URL("./rollout/fleet.ts", import.meta.url)),
  );
  const url = site.agentUrl;
  await Promise.all(
    fleets.map((fleet, at) =>
      fleet.ask("connect", { url, nodes: nodes.filter((_, index) => index % FLEETS === at) }),
    ),
  );
  return { fleets, enrolledPerSecond };
}

async function checkFleets(fleets: readonly Fleet[]): Promise<void> {
  for (const fleet of fleets) {
    const failure = await fleet.ask("failure", undefined);
    if (failure !== null) throw new Error(`a simulated agent failed: ${failure}`);
  }
}

const metersOf = ({ cpu }: Site, fleets: readonly Fleet[]) => ({
  ...cpu,
  agents: async () =>
    (await Promise.all(fleets.map(({ pid }) => cpuOf(pid)))).reduce((sum, one) => sum + one, 0),
});

async function createRollout(
  { home }: Site,
  from: { readonly version: string },
  to: { readonly version: string; readonly fingerprint: string },
  strategy: readonly string[],
): Promise<string> {
  const what = ["--profile", PROFILE, "--binary-name", "simulated", "--target-version", to.version];
  const bytes = ["--url", "https://artifacts.invalid/simulated", "--checksum", to.fingerprint];
  const where = ["--type", NODE_TYPE, "--source-version", from.version];
  const how = [...strategy, "--health-wait", "0s"];
  const made = await fairlead(home, ["rollout", "create", ...what, ...bytes, ...where, ...how]);
  return z.object({ id: z.string() }).parse(made).id;
}

/** (2) */
async function secondsOf({ operators }: Site, id: string, count: number): Promise<number> {
  const path = `/api/v1/rollouts/${id}`;
  const began = Date.now();
  await operators.post(`${path}/start`, {}, RolloutView);
  for (const until = began + ROLLOUT_TIMEOUT_MS; Date.now() < until; await sleep(LOOK_MS)) {
    const { status, counters, why, ended_at } = await operators.get(path, RolloutView);
    if (isActive(status) && status !== "paused") continue;
    if (status === "completed" && counters.succeeded === count) return (Date.parse(ended_at!) - began) / 1000;
    throw new Error(
      `the rollout is ${status}, ${counters.succeeded} of ${count} succeeded: ${why?.text ?? ""}`,
    );
  }
  throw new Error("the rollout did not end in time");
}
