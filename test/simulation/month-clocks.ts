/**
 * Clocks that go wrong within a month (SNAP-17), and operators who put them right by documented steps: a correction,
 * `authority confirm-time`, `authority reset-time`.
 *
 * 1. A clock jumps while the server runs, or the server starts with a wrong one. The database is on the same machine or on
 *    another, whose clock jumps alone.
 * 2. Some nodes boot without a clock. A server that starts ahead then takes their time with it, and only the root brings
 *    it back.
 */
import { LIMITS } from "../../src/core/limits.ts";
import type { Clocks, Skews } from "./clocks.ts";
import type { World } from "./fleet.ts";
import type { createSite, Host } from "./month-site.ts";
import { holds } from "./violation.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const JUMPS_MS = [2 * MINUTE_MS, 10 * MINUTE_MS, 12 * HOUR_MS, 10 * DAY_MS, 400 * DAY_MS];
/** Further ahead a server has no node's certificate in time, and nothing it signs reaches a node. */
const STARTS_MS = JUMPS_MS.filter((ms) => ms <= 10 * DAY_MS);
/** Heartbeats after a change come by then. */
const LOOKS_AFTER_MS = [1_000, 15_000, 30_000, 45_000, 60_000, 3 * MINUTE_MS];
const VISIT_MS = 15 * MINUTE_MS;
const VISITS_MAX = 8;
/** No wait of a rollout is longer: twice the longest health wait, or the deadlines of a node with an absence between. */
const WAIT_MAX_MS = 2 * HOUR_MS;

export type ClockDeed = "clock jumped" | "started with a wrong clock" | "time confirmed" | "time reset";

export interface ClockStory {
  readonly world: World;
  readonly clocks: Clocks;
  readonly site: ReturnType<typeof createSite>;
  readonly did: (deed: ClockDeed) => void;
  /** False: the reset is not taken. For the test that shows that this is noticed. */
  readonly resets?: boolean | undefined;
  readonly driven: () => readonly { readonly wakeAt: () => number | null }[];
}

export function createClockStory({ world, clocks, site, did, resets = true, driven }: ClockStory) {
  const { time, random, server } = world;
  const isApart = random.chance(0.5);
  /** Heartbeats from before are forgotten. */
  let changedAt = 0;
  const isThere = ({ programs: [first] }: Host, now: number): boolean => {
    const beat = first!.machine.beat(now);
    return beat !== null && now - beat.at < MINUTE_MS;
  };

  /** Every node that is there polls, and gets a head where one is signed. */
  function pollAll(now: number): void {
    if (server.reachableAt(now) > now) return;
    for (const host of site.hosts) {
      const issued = isThere(host, now) ? clocks.signedAt(now) : null;
      if (issued !== null) host.time.takeHead(issued, now);
    }
  }

  function look(now: number): void {
    const reachable = server.reachableAt(now);
    if (reachable > now) return time.after(reachable + MINUTE_MS, look);
    for (const host of site.hosts)
      if ((host.programs[0]!.machine.beat(now)?.at ?? 0) > changedAt)
        clocks.hear(host.programs[0]!.nodeId, host.time.clock(now));
    if (clocks.look()) agree(now);
    pollAll(now);
  }

  function agree(now: number): void {
    if (clocks.mends()) for (const { table } of site.upgrades) table.mendDates(clocks.dated(now));
    server.sweepAll(now, clocks.mends());
    time.after(now + MINUTE_MS, holdsNothingUp);
  }

  function holdsNothingUp(now: number): void {
    if (!clocks.isOpen() || server.reachableAt(now) > now) return;
    for (const { wakeAt } of driven()) {
      const waits = (wakeAt() ?? 0) - clocks.dated(now);
      holds(waits <= WAIT_MAX_MS, "a corrected clock holds nothing up", `the next step is in ${waits} ms`);
    }
  }

  /** Looks of the watch, and an operator who comes for as long as nothing is signed. */
  function watch(now: number): void {
    changedAt = now;
    for (const later of LOOKS_AFTER_MS) time.after(now + later, look);
    time.after(now + VISIT_MS, (at) => visit(at, 1));
  }

  function visit(now: number, visits: number): void {
    const reachable = server.reachableAt(now);
    if (reachable > now) return time.after(reachable + VISIT_MS, (at) => visit(at, visits));
    look(now);
    const problem = clocks.problem();
    if (problem === null) return;
    holds(visits < VISITS_MAX, "a person can bring everything to its end", problem);
    if (!isBearable(clocks.skews()) && visits > 1) change(now, { wall: 0, database: 0 });
    else if (isBearable(clocks.skews()) && clocks.confirm()) {
      did("time confirmed");
      look(now);
    }
    time.after(now + VISIT_MS, (at) => visit(at, visits + 1));
  }

  function change(now: number, skews: Skews): void {
    pollAll(now);
    clocks.set(skews);
    server.sweepAll(now);
    watch(now);
  }

  const drawn = (sizes: readonly number[]): number => random.pick(sizes) * (random.chance(0.5) ? 1 : -1);

  function jump(now: number): void {
    const by = drawn(JUMPS_MS);
    const [wall, database] = isApart
      ? random.pick([
          [by, 0],
          [0, by],
        ] as const)
      : [by, by];
    change(now, { wall, database });
    did("clock jumped");
    const lasts = MINUTE_MS + random.below(isBearable({ wall, database }) ? 2 * DAY_MS : 6 * HOUR_MS);
    time.after(now + lasts, (at) => change(at, { wall: 0, database: 0 }));
  }

  function startWrong(now: number): void {
    const by = drawn(STARTS_MS);
    server.restart(now, random.below(30_000));
    did("started with a wrong clock");
    time.after(server.reachableAt(now), (at) => {
      clocks.set({ wall: by, database: isApart ? 0 : by });
      start(at);
    });
    time.after(now + 2 * MINUTE_MS + random.below(6 * HOUR_MS), (at) => change(at, { wall: 0, database: 0 }));
  }

  function start(now: number): void {
    if (server.reachableAt(now) > now) return time.after(server.reachableAt(now), start);
    clocks.start();
    pollAll(now);
    server.sweepAll(now);
    watch(now);
  }

  return {
    /** After each start of the server. */
    start,
    morning(now: number): void {
      for (const { time: own } of site.hosts) own.setUnset(random.chance(0.1));
      const fault = random.chance(0.1) ? jump : random.chance(0.2) ? startWrong : null;
      if (fault !== null) time.after(now + 10 * MINUTE_MS + random.below(2 * HOUR_MS), fault);
    },
    /** A node whose time lies ahead takes no head any more: its operator sees that in `node show`. */
    lookAfter(host: Host, now: number): void {
      const issued = clocks.signedAt(now);
      if (issued === null || !isThere(host, now)) return;
      if (host.time.takeHead(issued, now) !== "older" || host.time.window(now).effective < now + HOUR_MS)
        return;
      if (resets) for (const each of site.hosts) each.time.reset(now); // (2)
      did("time reset");
      const isBack = host.time.takeHead(issued, now) === "taken";
      holds(isBack, "a person can bring everything to its end", "a node refuses heads after reset-time");
    },
  };
}

/** Nodes take heads and commands that are dated so: an operator may accept the difference for a while. */
const isBearable = ({ wall, database }: Skews): boolean =>
  wall === 0 && database >= -LIMITS.headLifetimeMs / 2 && database <= LIMITS.issuedAheadMaxMs;
