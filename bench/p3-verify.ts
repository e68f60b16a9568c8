/**
 * P3: from a snapshot's bytes to its content, believed.
 *
 * 1. All three get the same bytes in short turns, so that what else the machine does meets them alike.
 * 2. What counts is the processor time of this thread, not the clock: others may be at work here.
 */
import type { Also, Measurement } from "./support/measurement.ts";
import { median } from "./support/statistics.ts";
import type { Workplace } from "./support/workplace.ts";
import { peers, routes, type Content } from "./verify/contents.ts";
import { contestantsFor, type Contestant } from "./verify/contestants.ts";

const KB = 1024;
const ROUNDS = 9;
const TURN_MS = 100;
const WARM_UP_MS = 600;
const REACH = 0.8;

const SIZES: readonly (readonly [string, Content])[] = [
  ["2 KB", peers(2 * KB)],
  ["64 KB", peers(64 * KB)],
  ["1 MB", peers(KB * KB)],
];
const HARDER: readonly (readonly [string, Content])[] = [
  ["64 KB of address ranges", routes(64 * KB)],
  ["1 MB of address ranges", routes(KB * KB)],
];

interface Rates {
  readonly ours: number;
  readonly limit: number;
  readonly peer: number;
}

export async function run(place: Workplace): Promise<Measurement> {
  const measured = [...SIZES, ...HARDER].map(([name, content]) => {
    place.say(`P3: ${name}`);
    return { name, rates: ratesOf(content), isPromised: SIZES.some(([size]) => size === name) };
  });
  const promised = measured.filter(({ isPromised }) => isPromised);
  const { rates } = promised.find(({ name }) => name === "64 KB")!;
  return Promise.resolve({
    ...rates,
    unit: "snapshots/s of 64 KB",
    reached: promised.every(({ rates: { ours, limit } }) => ours / limit >= REACH),
    also: measured.flatMap(({ name, rates: these, isPromised }) => figuresOf(name, these, isPromised)),
  });
}

function figuresOf(name: string, { ours, limit, peer }: Rates, isPromised: boolean): Also[] {
  const share = ours / limit;
  const reach = isPromised ? { reach: `≥ ${REACH}`, reached: share >= REACH } : {};
  return [
    { name: `${name}: ours`, value: ours, unit: "snapshots/s" },
    { name: `${name}: against the limit`, value: share, unit: "×", ...reach },
    { name: `${name}: against the peer`, value: ours / peer, unit: "×" },
  ];
}

function ratesOf(content: Content): Rates {
  const { ours, limit, peer } = contestantsFor(content);
  for (const contestant of [ours, limit, peer]) rateOf(contestant, WARM_UP_MS);
  const rounds = Array.from({ length: ROUNDS }, () => ({
    ours: rateOf(ours, TURN_MS), // (1)
    limit: rateOf(limit, TURN_MS),
    peer: rateOf(peer, TURN_MS),
  }));
  const middle = (pick: (round: Rates) => number) => median(rounds.map(pick));
  return {
    ours: middle((round) => round.ours),
    limit: middle((round) => round.limit),
    peer: middle((round) => round.peer),
  };
}

function rateOf(contestant: Contestant, turnMs: number): number {
  const before = process.threadCpuUsage();
  let done = 0;
  for (;;) {
    if (!contestant()) throw new Error("a good snapshot was refused");
    done += 1;
    const { user, system } = process.threadCpuUsage(before); // (2)
    if (user + system >= turnMs * 1000) return (done * 1e6) / (user + system);
  }
}
