/**
 * A month of one site (ROLL-29): ten machines, two of whose programs share hosts, a rollout each day and every fault of
 * fleet, machine and driver. Machines, records and assignments carry over from day to day. Operators use signals and
 * documented commands alone, and at the end every node runs what they want.
 */
import type { NodeId, ProfileId } from "../../src/core/ids.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import type { TableWish } from "../support/rollouts/created-rows.ts";
import { createRolloutTable, type Decide, type RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkEnd } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
import { createServer } from "./driver.ts";
import { createFleet, type World } from "./fleet.ts";
import { settleAll, settleRollout } from "./last-operator.ts";
import { drawFaults } from "./machine.ts";
import {
  createSite,
  NO_FAULTS,
  PROFILES,
  version,
  type Host,
  type Program,
  type SiteParts,
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

export interface MonthParts extends SiteParts {
  readonly decide?: Decide | undefined;
}

export type Deed = "replaced" | "enrolled again" | "adopted" | "mended" | "outage" | "outage of days";

export interface Month extends Played {
  readonly deeds: ReadonlyMap<Deed, number>;
}

export function playMonth(seed: number, parts: MonthParts = {}): Month {
  const random = randomOf(seed);
  const time = createTimeline();
  const server = createServer(time, random);
  const world: World = { time, random, server };
  const fleet = createFleet(world);
  const site = createSite(world, fleet, parts);
  const deeds = new Map<Deed, number>();
  /** Claims on profiles, as the database has them: taken with a signal that reopens, freed by the step that ends. */
  const owners = new Map<ProfileId, RolloutTable>();
  /** Mended or enrolled again, and not adopted yet: nothing else may need an adoption. */
  const byHand = new Set<NodeId>();
  let brought = 1;

  const did = (deed: Deed): void => void deeds.set(deed, (deeds.get(deed) ?? 0) + 1);

  const isFree = (profile: ProfileId): boolean => !owners.has(profile);

  function add(profile: ProfileId, wish: TableWish) {
    const table = createRolloutTable({ ...wish, number: 10 + site.upgrades.length }, parts.decide);
    owners.set(profile, table);
    const nudge = fleet.run(table, () => {
      site.recordedBy(profile, table);
      if (owners.get(profile) === table && !isActive(table.rollout().status)) owners.delete(profile);
      shareHosts(profile, table);
      const active = site.upgradesOf(profile).filter((each) => isActive(each.table.rollout().status));
      holds(active.length <= 1, "one active rollout per profile", `${active.length} are active`);
    });
    site.upgrades.push({ profile, table, nudge });
    return { table, nudge };
  }

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
      if (site.upgradesOf(profile).at(-1)!.table !== table || !isFree(profile)) return false;
      owners.set(profile, table);
      return true;
    };
    operate(world, { table, from: now, nudge, mayReopen, isComponent: false });
  }

  /** What an operator does about a host after a look at `node list`, `rollout nodes` and the incidents. */
  function lookAfter(host: Host, now: number): void {
    if (site.isSilent(host, now)) {
      site.enrollAgain(host, now, "empty");
      return did("replaced");
    }
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
      const isAnother = program.nodeId !== nodeId || server.reachableAt(at) > at;
      if (isAnother || runs === null || site.isAtWork(program)) return;
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
    time.after(now + 10 * MINUTE_MS, (at) => {
      begin(PROFILES[0]!, at);
      if (random.chance(0.5)) begin(PROFILES[1]!, at);
    });
    for (let restarts = random.below(3); restarts > 0; restarts--)
      time.after(now + random.below(4 * HOUR_MS), (at) => {
        server.restart(at);
        did("outage");
      });
    if (random.chance(0.05))
      time.after(now + random.below(4 * HOUR_MS), (at) => {
        server.restart(at, DAY_MS + random.below(2 * DAY_MS));
        did("outage of days");
      });
    const patience = random.below(6);
    for (let round = 0; round < 20; round++)
      time.after(now + EVENING_MS + round * 20 * MINUTE_MS, (at) =>
        time.after(server.reachableAt(at), (later) => settleWaiting(later, round >= patience)),
      );
  }

  function settleWaiting(now: number, callsOff: boolean): void {
    for (const { table, nudge } of site.upgrades) {
      const { status, why } = table.rollout();
      const isBlocked = status === "rolling_back" && why?.code === "INTENT_EXPIRED";
      if (status === "pending" || status === "paused" || isBlocked)
        settleRollout({ table, nudge, isComponent: false }, now, callsOff);
    }
  }

  function settleEverything(): string | null {
    time.runAll();
    return settleAll(world, {
      left: () => site.upgrades.map(({ table }) => table.rollout().status).find(isActive) ?? null,
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

  /** A machine that is gone says nothing any more: the next look replaces it. */
  function checkRows(): void {
    for (const { table } of site.upgrades) checkEnd(table);
    for (const program of site.programs) {
      const row = site.newestRow(program);
      const isGone = program.machine.isDead(time.now());
      if (row?.assigned === true && !isGone) checkMachine(row, program.machine);
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
    ends: site.upgrades.map(({ table }) => `month's rollout ${table.rollout().status}`),
    found,
    rollouts: site.upgrades.map(({ table }) => table),
    deeds,
  };
}
