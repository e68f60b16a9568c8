/**
 * The machines of a month, and what operators do to them by documented commands: `node revoke` and enrollment under the
 * same name, `node adopt`, a machine mended by hand. Nothing here writes a row that the product would not write.
 *
 * 1. A program has an identity of its own here, as in neighbours.ts; programs of one host share its agent and its faults.
 * 2. The recorded version belongs to node and profile: every rollout of the profile reads the same one.
 * 3. Enrollment clears the record: a new identity begins with nothing known.
 */
import { Digest, NodeId, ProfileId } from "../../src/core/ids.ts";
import { LIMITS } from "../../src/core/limits.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import { uuid } from "../support/rollouts/created-rows.ts";
import type { RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { createAgentTime, type AgentTime } from "./agent-authority.ts";
import type { createFleet, World } from "./fleet.ts";
import { NO_FULL_DISK, type Write } from "./full-disk.ts";
import { createMachine, type Faults, type Machine } from "./machine.ts";
import { onAgent, type Agent } from "./neighbours.ts";

const HOSTS = 10;
/** Hosts that run both programs. */
const SHARED = 3;
export const PROFILES = ["execution", "consensus"].map((name) => ProfileId.parse(name));
export const NO_FAULTS: Faults = {
  deadAt: Infinity,
  pausedAt: Infinity,
  resumedAt: Infinity,
  claimsMark: false,
  losesDisk: false,
  disk: NO_FULL_DISK,
};

export interface Program {
  readonly profile: ProfileId;
  nodeId: NodeId;
  machine: Machine;
  /** (2) */
  recorded: Digest | null;
}

export interface Host {
  readonly programs: readonly Program[];
  /** Of its agent. */
  time: AgentTime;
}

export interface Upgrade {
  readonly profile: ProfileId;
  readonly table: RolloutTable;
  readonly nudge: (at: number) => void;
  readonly isComponent: boolean;
}

/** Broken on purpose, to see that it is noticed. */
export interface SiteParts {
  readonly enrollmentClears?: boolean | undefined;
  readonly adopts?: boolean | undefined;
  readonly asksAgain?: boolean | undefined;
  readonly floorBounded?: boolean | undefined;
}

export interface SiteDeps extends World {
  /** A disk was full at this write of an agent. */
  readonly noted: (write: Write) => void;
}

export const version = (n: number): Digest => Digest.parse(`sha256:${String(n).padStart(64, "0")}`);

export function createSite(
  world: SiteDeps,
  fleet: ReturnType<typeof createFleet>,
  { enrollmentClears = true, adopts = true, asksAgain, floorBounded: bounded }: SiteParts,
) {
  const { random, noted } = world;
  const upgrades: Upgrade[] = [];
  let identities = 0;

  interface Enrollment {
    readonly profile: ProfileId;
    readonly agent: Agent;
    readonly time: AgentTime;
    readonly installed: Digest | null;
    readonly from: number;
  }

  function enrolled({ profile, agent, time, installed, from }: Enrollment) {
    const nodeId = NodeId.parse(uuid(4, ++identities));
    const begins = { nodeId, installed, breaking: false, from, faults: NO_FAULTS };
    const alone = createMachine({ ...begins, time, noted, asksAgain }, random);
    const machine = onAgent(world, agent, profile, alone);
    fleet.machines.set(nodeId, machine);
    return { nodeId, machine };
  }

  const hosts: readonly Host[] = Array.from({ length: HOSTS }, (_, index) => {
    const [agent, time]: [Agent, AgentTime] = [{ running: null }, createAgentTime({ bounded })];
    const profiles = index < SHARED ? PROFILES : PROFILES.slice(0, 1);
    const programs = profiles.map((profile): Program => {
      const enrollment = { profile, agent, time, installed: version(1), from: T0 };
      return { profile, ...enrolled(enrollment), recorded: version(1) };
    });
    return { programs, time };
  });
  const programs = hosts.flatMap((host) => host.programs);
  const upgradesOf = (profile: ProfileId): Upgrade[] => upgrades.filter((each) => each.profile === profile);

  function record(program: Program, fingerprint: Digest | null): void {
    program.recorded = fingerprint;
    for (const { table } of upgradesOf(program.profile)) table.record(program.nodeId, fingerprint); // (2)
  }

  /** The newest row about the present identity. */
  const newestRow = ({ profile, nodeId }: Program) =>
    upgradesOf(profile)
      .flatMap(({ table }) => table.nodes)
      .findLast((node) => node.nodeId === nodeId && node.attempt > 0);

  const isAtWork = ({ profile, nodeId }: Program): boolean =>
    upgradesOf(profile).some(
      ({ table }) =>
        isActive(table.rollout().status) &&
        table.nodes.some((node) => node.nodeId === nodeId && node.status === "in_progress"),
    );

  /** Null: nothing runs, or nothing was heard of it for too long. */
  function measured({ machine }: Program, now: number): Digest | null {
    const beat = machine.beat(now);
    const isSilent = beat === null || now - beat.at >= LIMITS.heartbeatLateMs;
    return isSilent ? null : (beat.facts.runningFingerprint ?? null);
  }

  return {
    hosts,
    programs,
    /** Programs of the hosts that run both. */
    shared: (profile: ProfileId): Program[] =>
      hosts.slice(0, SHARED).flatMap((host) => host.programs.filter((each) => each.profile === profile)),
    upgrades,
    upgradesOf,
    newestRow,
    isAtWork,
    measured,
    isSilent: ({ programs: [first] }: Host, now: number): boolean =>
      now - (first!.machine.beat(now)?.at ?? T0) >= LIMITS.heartbeatLostMs,
    /** After each step of a rollout: what it recorded is there for all. */
    recordedBy(profile: ProfileId, table: RolloutTable): void {
      for (const { nodeId, assigned, attempt, recorded } of table.nodes) {
        if (!assigned || attempt === 0) continue;
        const program = programs.find((each) => each.profile === profile && each.nodeId === nodeId);
        if (program !== undefined && program.recorded !== recorded) record(program, recorded);
      }
    },
    /** `fairlead node adopt`. False: refused. */
    adopt(program: Program, now: number): boolean {
      const runs = measured(program, now);
      if (!adopts || runs === null || isAtWork(program)) return false;
      for (const { table } of upgradesOf(program.profile)) table.adopt(program.nodeId, runs);
      record(program, runs);
      return true;
    },
    /** `fairlead node revoke`, and an enrollment under the same name; with other hardware when `disk` says so. */
    enrollAgain(host: Host, now: number, disk: "kept" | "empty"): void {
      const agent: Agent = { running: null };
      host.time = createAgentTime({ bounded });
      for (const program of host.programs) {
        const { profile, machine, nodeId, recorded } = program;
        const found = machine.installedAt(now);
        const installed = disk === "empty" || found === "broken" ? null : found;
        fleet.revoke(nodeId);
        machine.meets({ ...NO_FAULTS, deadAt: now });
        for (const { table, nudge } of upgradesOf(profile)) if (table.revoke(nodeId)) nudge(now);
        Object.assign(program, enrolled({ profile, agent, time: host.time, installed, from: now }));
        record(program, enrollmentClears ? null : recorded); // (3)
      }
    },
  };
}
