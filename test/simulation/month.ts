/**
 * A month of one site (ROLL-29): ten machines, three of which run two programs, a rollout or a group each day and every
 * fault of fleet, machine, disk, driver and clocks. Machines, records and assignments carry over from day to day.
 * Operators use signals and documented commands alone, and at the end every node runs the version they want.
 */
import type { NodeId, ProfileId } from "../../src/core/ids.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import type { TableWish } from "../support/rollouts/created-rows.ts";
import type { DecideGroup, GroupTable } from "../support/rollouts/group-table.ts";
import { createRolloutTable, type Decide, type RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkEnd } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
import { createClocks, type ClockParts } from "./clocks.ts";
import { createServer } from "./driver.ts";
import { createFleet, type World } from "./fleet.ts";
import type { Write } from "./full-disk.ts";
import { settleAll, settleRollout } from "./last-operator.ts";
import { drawFaults } from "./machine.ts";
import { createClockStory, type ClockDeed } from "./month-clocks.ts";
import { createMonthGroups } from "./month-groups.ts";
import {
  createSite,
  NO_FAULTS,
  PROFILES,
  version,
  type Host,
  type Program,
  type SiteParts,
  type Upgrade,
} from "./month-site.ts";
import { elsewhereOf } from "./neighbours.ts";
import { operate } from "./operators.ts";
import { randomOf } from "./random.ts";
import type { Played } from "./simulate.ts";
import { createTimeline } from "./timeline.ts";
import { holds } from "./violation.ts";
import { rolloutWish } from "./wishes.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAYS = 30;
const EVENING_MS = 14 * HOUR_MS;
/** The version that everybody wants at the end. */
const WANTED = version(9_999);
/** Each has its chance to fail once more, and a machine that broke is mended in the next. */
const LAST_ROUNDS_MAX = 25;

export interface MonthParts extends SiteParts, ClockParts {
  readonly decide?: Decide | undefined;
  readonly decideGroup?: DecideGroup | undefined;
  readonly resets?: boolean | undefined;
}

export type Deed =
  | "replaced"
  | "enrolled again"
  | "adopted"
  | "mended"
  | "outage"
  | "outage of days"
  | ClockDeed
  | `disk full at ${Write}`;

export interface Month extends Played {
  readonly deeds: ReadonlyMap<Deed, number>;
}

export function playMonth(seed: number, parts: MonthParts = {}): Month {
  const random = randomOf(seed);
  const time = createTimeline();
  const clocks = createClocks(time, parts);
  const server = createServer(time, random, clocks);
  const world: World = { time, random, server, clocks };
  const fleet = createFleet(world);
  const deeds = new Map<Deed, number>();
  const did = (deed: Deed): void => void deeds.set(deed, (deeds.get(deed) ?? 0) + 1);
  const site = createSite({ ...world, noted: (write) => did(`disk full at ${write}`) }, fleet, parts);
  /** Claims on profiles, as the database has them: taken with a signal that reopens, freed by the step that ends. */
  const owners = new Map<ProfileId, RolloutTable | GroupTable>();
  /** Mended or enrolled again, and not adopted yet: nothing else may need an adoption. */
  const byHand = new Set<NodeId>();
  let brought = 1;

  const groups = createMonthGroups({
    world,
    decide: parts.decide,
    decideGroup: parts.decideGroup,
    run: (profile, table, after) => run({ profile, table, isComponent: true }, after),
    claim: claimBoth,
    release: (group) => {
      for (const profile of PROFILES) if (owners.get(profile) === group) owners.delete(profile);
    },
  });
  const clockStory = createClockStory({
    world,
    clocks,
    site,
    did,
    resets: parts.resets,
    driven: () => [...site.upgrades.map(({ table }) => table), ...groups.tables()],
  });

  function isFree(profile: ProfileId): boolean {
    groups.releaseEnded();
    return !owners.has(profile);
  }

  const isNewest = (profile: ProfileId, table: RolloutTable): boolean =>
    site.upgradesOf(profile).at(-1)!.table === table;

  function claimBoth(group: GroupTable): boolean {
    const isOld = group.components.some(
      (table, index) =>
        site.upgrades.some((each) => each.table === table) && !isNewest(PROFILES[index]!, table),
    );
    if (isOld || !PROFILES.every(isFree)) return false;
    for (const profile of PROFILES) owners.set(profile, group);
    return true;
  }

  function run({ profile, table, isComponent }: Omit<Upgrade, "nudge">, after: (now: number) => void) {
    const nudge = fleet.run(table, (now) => {
      site.recordedBy(profile, table);
      if (owners.get(profile) === table && !isActive(table.rollout().status)) owners.delete(profile);
      shareHosts(profile, table);
      const active = site.upgradesOf(profile).filter((each) => isActive(each.table.rollout().status));
      holds(active.length <= 1, "one active rollout per profile", `${active.length} are active`);
      after(now);
    });
    site.upgrades.push({ profile, table, nudge, isComponent });
    return nudge;
  }

  function add(profile: ProfileId, wish: TableWish) {
    const table = createRolloutTable({ ...wish, number: nextNumber() }, parts.decide);
    owners.set(profile, table);
    return { table, nudge: run({ profile, table, isComponent: false }, () => undefined) };
  }

  let numbers = 10;
  const nextNumber = (): number => ++numbers;

  /** The other program of a host sees that this one is away. */
  function shareHosts(profile: ProfileId, table: RolloutTable): void {
    for (const { programs } of site.hosts) {
      const own = programs.find((each) => each.profile === profile);
      const other = programs.find((each) => each.profile !== profile);
      if (own === undefined || other === undefined) continue;
      const row = table.nodes.find(({ nodeId }) => nodeId === own.nodeId);
      for (const upgrade of site.upgradesOf(other.profile))
        for (const node of upgrade.table.nodes)
          if (node.nodeId === other.nodeId) node.elsewhere = elsewhereOf(row);
    }
  }

  const wishFor = (programs: readonly Program[]) => ({
    nodes: programs.length,
    nodeIds: programs.map(({ nodeId }) => nodeId),
    previousOf: (n: number) => programs[n]!.recorded,
  });

  function begin(profile: ProfileId, now: number): void {
    if (!isFree(profile)) return;
    const all = site.programs.filter((each) => each.profile === profile);
    const wish = rolloutWish(random, all.length);
    const first = random.below(all.length);
    const chosen = [...all.slice(first), ...all.slice(0, first)].slice(0, wish.nodes);
    const intentNotAfter = wish.intentNotAfter == null ? null : wish.intentNotAfter - T0 + now;
    const target = version(++brought);
    const { table, nudge } = add(profile, { ...wish, ...wishFor(chosen), target, intentNotAfter });
    const mayReopen = (): boolean => {
      if (!isNewest(profile, table) || !isFree(profile)) return false;
      owners.set(profile, table);
      return true;
    };
    operate(world, { table, from: now, nudge, mayReopen, isComponent: false });
  }

  /** The programs of the shared hosts, forward one after the other. */
  function beginGroup(now: number): void {
    if (!PROFILES.every(isFree)) return;
    const components = PROFILES.map((profile) => {
      const wish = rolloutWish(random, site.shared(profile).length);
      const intentNotAfter = wish.intentNotAfter == null ? null : wish.intentNotAfter - T0 + now;
      const chosen = site.shared(profile).slice(0, wish.nodes);
      const created = { number: nextNumber(), target: version(++brought), intentNotAfter };
      return [profile, { ...wish, ...wishFor(chosen), ...created }] as const;
    });
    groups.begin(new Map(components), now);
  }

  /** What an operator does about a host after a look at `node list`, `rollout nodes` and the incidents. */
  function lookAfter(host: Host, now: number): void {
    if (site.isSilent(host, now)) {
      site.enrollAgain(host, now, "empty");
      return did("replaced");
    }
    clockStory.lookAfter(host, now);
    const isReplayed = host.programs.some((each) => site.newestRow(each)?.errorCode === "COMMAND_REPLAYED");
    if (isReplayed || random.chance(0.02)) {
      site.enrollAgain(host, now, "kept");
      did("enrolled again");
    }
    for (const program of host.programs) mendOrAdopt(program, now);
  }

  function lookAfterAll(now: number): void {
    for (const host of site.hosts) lookAfter(host, now);
    time.after(now + 2 * MINUTE_MS, (at) => fleet.hear(at));
  }

  function mendOrAdopt(program: Program, now: number): void {
    if (site.isAtWork(program) || program.machine.isBusy(now)) return;
    const isMended = program.machine.installedAt(now) === "broken";
    const { nodeId } = program;
    if (isMended) {
      program.machine.mend(now, version(1 + random.below(brought)));
      did("mended");
    }
    if (isMended || site.newestRow(program) === undefined) byHand.add(nodeId);
    time.after(now + 4 * MINUTE_MS, (at) => {
      const runs = site.measured(program, at);
      const isThere =
        server.reachableAt(at) === at && clocks.openSince() + 4 * MINUTE_MS < at && clocks.isOpen();
      if (program.nodeId !== nodeId || !isThere || runs === null || site.isAtWork(program)) return;
      if (runs === program.recorded) return void byHand.delete(nodeId);
      const what = `${nodeId} runs ${runs}, and ${program.recorded ?? "nothing"} is recorded`;
      holds(byHand.has(nodeId), "the record follows the machine", what);
      if (site.adopt(program, at)) did("adopted");
    });
  }

  function morning(now: number): void {
    lookAfterAll(now);
    for (const host of site.hosts) {
      const faults = drawFaults(random, now);
      for (const { machine } of host.programs) machine.meets(faults);
    }
    clockStory.morning(now);
    time.after(now + 10 * MINUTE_MS, (at) => {
      if (random.chance(0.25)) return beginGroup(at);
      begin(PROFILES[0]!, at);
      if (random.chance(0.5)) begin(PROFILES[1]!, at);
    });
    for (let restarts = random.below(3); restarts > 0; restarts--)
      time.after(now + random.below(4 * HOUR_MS), (at) => restart(at, "outage"));
    if (random.chance(0.05))
      time.after(now + random.below(4 * HOUR_MS), (at) =>
        restart(at, "outage of days", DAY_MS + random.below(2 * DAY_MS)),
      );
    const patience = random.below(6);
    for (let round = 0; round < 20; round++)
      time.after(now + EVENING_MS + round * 20 * MINUTE_MS, (at) =>
        time.after(server.reachableAt(at), (later) => settleWaiting(later, round >= patience)),
      );
  }

  function restart(now: number, deed: Deed, awayMs?: number): void {
    server.restart(now, awayMs);
    did(deed);
    time.after(server.reachableAt(now), clockStory.start);
  }

  function settleWaiting(now: number, callsOff: boolean): void {
    for (const upgrade of site.upgrades) {
      const { status, why, rollbackRequested } = upgrade.table.rollout();
      const isBlocked = status === "rolling_back" && why?.code === "INTENT_EXPIRED";
      const isReady = status === "pending" && !upgrade.isComponent;
      const isHeld = status === "paused" && !rollbackRequested; // (one that goes back finishes what is at work first)
      if (isReady || isHeld || isBlocked) settleRollout(upgrade, now, callsOff);
    }
    groups.settle(now, callsOff);
  }

  function settleEverything(): string | null {
    time.runAll();
    return settleAll(world, {
      left: () => site.upgrades.map(({ table }) => table.rollout().status).find(isActive) ?? groups.left(),
      settle: settleWaiting,
    });
  }

  function isWanted(program: Program): boolean {
    return program.recorded === WANTED && program.machine.installed() === WANTED;
  }

  /** The last release of the month is sound: it goes to every node that does not run it yet. */
  function bringWanted(): void {
    lookAfterAll(time.now());
    for (const { machine } of site.programs) {
      machine.meets(NO_FAULTS);
      machine.agreesWith(WANTED);
    }
    time.runAll();
    for (const profile of PROFILES) {
      const left = site.programs.filter((each) => each.profile === profile && !isWanted(each));
      if (left.length === 0) continue;
      const wish = { ...wishFor(left), batchSize: 3, failureThreshold: 1, target: WANTED };
      const { table, nudge } = add(profile, { ...wish, healthWaitMs: MINUTE_MS });
      table.signal("start");
      nudge(time.now());
    }
    settleEverything();
  }

  /** A machine that is gone says nothing any more: the next look replaces it. Rows know of no work by hand. */
  function checkRows(): void {
    for (const { table } of site.upgrades) checkEnd(table);
    groups.check();
    for (const program of site.programs) {
      const row = site.newestRow(program);
      const isGone = program.machine.isDead(time.now());
      if (row?.assigned === true && !isGone && !byHand.has(program.nodeId))
        checkMachine(row, program.machine);
    }
  }

  for (let day = 0; day < DAYS; day++) {
    const at = Math.max(T0 + day * DAY_MS, time.now());
    time.after(at, (now) => time.after(server.reachableAt(now), morning));
    time.runAll(T0 + (day + 1) * DAY_MS);
  }
  const found = settleEverything();
  checkRows();
  for (let round = 0; !site.programs.every(isWanted); round++) {
    const left = site.programs.filter((each) => !isWanted(each)).map(({ nodeId }) => nodeId);
    const what = `${left.join(", ")} after ${round} rollouts`;
    holds(round < LAST_ROUNDS_MAX, "every node ends where its operator wants it", what);
    bringWanted();
  }
  checkRows();
  return {
    kind: "month",
    ends: [
      ...site.upgrades.map(({ table }) => `month's rollout ${table.rollout().status}`),
      ...groups.ends(),
    ],
    found,
    rollouts: site.upgrades.map(({ table }) => table),
    deeds,
  };
}
