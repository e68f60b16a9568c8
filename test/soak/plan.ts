/**
 * The plan of a soak, from its seed alone: which release each day brings, and which faults meet it.
 *
 * 1. The same seed, number of rounds and number of hosts give the same plan.
 * 2. Kinds are dealt from a shuffled deck: each occurs once before any occurs twice more than another. Every fault and
 *    every kind of release is met within five rounds, whatever the seed.
 * 3. Faults of one day meet different hosts.
 */
import { randomOf, type Random } from "../simulation/random.ts";

export const FAULT_KINDS = [
  /** Shut down in order, and started. */
  "reboot",
  "power_cut",
  /** Another machine under the same name, with an empty disk. */
  "replaced",
  /** Revoked, and enrolled again with what is on its disks. */
  "enrolled_again",
  /** The disk with the agent's state. */
  "full_disk",
  /** The control plane is away for longer than every deadline. */
  "outage",
  /** Of the server and its database, while they run. */
  "server_clock",
  /** Of one agent, from a start on. */
  "agent_clock",
  "agent_killed",
  /** PostgreSQL and Restate at once, under a server that runs. */
  "engines_killed",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

export const RELEASES = [
  "sound",
  /** Sound, and taken back by its operator once it is everywhere. */
  "regretted",
  /** The program exits. */
  "crashing",
  /** The bytes are not the signed ones. */
  "altered",
  /** The program runs, and its health is critical. */
  "unhealthy",
] as const;
export type Release = (typeof RELEASES)[number];

const FAULTS_PER_ROUND = 2;

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;
/** Beyond the deadlines of a rollout, beyond what is signed for a day, and beyond every snapshot. */
const OUTAGES_S = [HOUR_S, 26 * HOUR_S, 8 * DAY_S];
const SERVER_CLOCKS_S = [12 * HOUR_S, 400 * DAY_S, -2 * HOUR_S];
/** A year ahead, and a machine without a battery. */
const AGENT_CLOCKS_S = [365 * DAY_S, -50 * 365 * DAY_S];

export interface Fault {
  readonly kind: FaultKind;
  /** Index of the host; a fault of the control plane meets it as well. */
  readonly host: number;
  /** Before the rollout begins, or while its first nodes fetch. */
  readonly moment: "before" | "during";
  /** The remedy comes when the rollout has stopped, not at once. */
  readonly isLate: boolean;
  /** How far clocks move; 0 where none does. */
  readonly seconds: number;
}

export interface Round {
  readonly day: number;
  readonly release: Release;
  readonly batchSize: number;
  readonly faults: readonly Fault[];
}

export interface PlanOptions {
  readonly seed: number;
  readonly rounds: number;
  readonly hosts: number;
}

export function planSoak({ seed, rounds, hosts }: PlanOptions): Round[] {
  const random = randomOf(seed);
  const nextRelease = dealer(random, RELEASES);
  const nextKind = dealer(random, FAULT_KINDS);
  return Array.from({ length: rounds }, (_, index) => {
    const met = shuffled(random, [...Array(hosts).keys()]); // (3)
    const faults = met.slice(0, FAULTS_PER_ROUND).map((host) => drawFault(random, nextKind(), host));
    return { day: index + 1, release: nextRelease(), batchSize: 2 + random.below(hosts - 1), faults };
  });
}

function drawFault(random: Random, kind: FaultKind, host: number): Fault {
  const moment = random.pick(["before", "during"] as const);
  return { kind, host, moment, isLate: random.chance(0.3), seconds: secondsOf(random, kind) };
}

function secondsOf(random: Random, kind: FaultKind): number {
  if (kind === "outage") return random.pick(OUTAGES_S);
  if (kind === "server_clock") return random.pick(SERVER_CLOCKS_S);
  return kind === "agent_clock" ? random.pick(AGENT_CLOCKS_S) : 0;
}

/** (2) */
function dealer<T>(random: Random, kinds: readonly T[]): () => T {
  let deck: T[] = [];
  return () => {
    if (deck.length === 0) deck = shuffled(random, kinds);
    return deck.pop()!;
  };
}

function shuffled<T>(random: Random, from: readonly T[]): T[] {
  const left = [...from];
  return from.map(() => left.splice(random.below(left.length), 1)[0]!);
}
