/**
 * Machines and the way between them and the rows. Commands are fetched late, twice or by a node that is gone; reports
 * get lost, come again, overtake each other, wait for a server that is away, or come hours after their node was given up.
 */
import type { Command, RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { LIMITS } from "../../src/core/limits.ts";
import type { HealthFacts } from "../../src/core/rollout/health.ts";
import type { ReportRow } from "../../src/core/rollout/rows.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import type { Sent } from "./agent-authority.ts";
import { STEADY, type Dating } from "./clocks.ts";
import type { Driven, Server } from "./driver.ts";
import { createMachine, type Kept, type Machine } from "./machine.ts";
import type { Random } from "./random.ts";
import { holds } from "./violation.ts";
import type { Timeline } from "./timeline.ts";
import { decidedOnly, watchedStep } from "./watch-rollout.ts";

const MINUTE_MS = 60_000;
/** Silent for so long, a machine counts as down. */
const DOWN_AFTER_MS = 3 * MINUTE_MS;
/** Every machine that lives has beaten by then, and then every command has ended. */
const HEARD_AFTER_MS = [2 * MINUTE_MS, 60 * MINUTE_MS, 12 * 60 * MINUTE_MS];
/** How often the server listens for silent nodes; in the product every five seconds. */
const LISTEN_EVERY_MS = MINUTE_MS;
const DRIVE_LOST_MS = 6 * 60 * MINUTE_MS;
const SILENCE_MAX_MS = LIMITS.nodeSilenceMaxDefaultMs;
/** Looks, nudges that got lost, and a server that is started again. */
const SILENCE_SLACK_MS = 3 * MINUTE_MS;

const DOWN = { nodeState: "down" } as const;

export interface World {
  readonly time: Timeline;
  readonly random: Random;
  readonly server: Server;
  /** Right, unless a story makes them wrong. */
  readonly clocks?: Dating;
}

export function createFleet({ time, random, server, clocks = STEADY }: World) {
  const machines = new Map<string, Machine>();
  const tables: RolloutTable[] = [];
  /** Identities that the server does not listen to any more. */
  const revoked = new Set<string>();
  const hears: ((now: number) => void)[] = [];
  /** Of the commands of each node. */
  const sequences = new Map<string, number>();

  function addMachines(table: RolloutTable): void {
    const breaking = table.rollout().migrationType === "breaking";
    for (const { nodeId, previous: installed } of table.nodes) {
      if (machines.has(nodeId)) continue;
      machines.set(nodeId, createMachine({ nodeId, installed, breaking, from: T0 }, random));
    }
  }

  /** What heartbeats have brought by now. They nudge nobody. */
  function listen(table: RolloutTable, now: number): void {
    for (const node of table.nodes) {
      const { nodeId } = node;
      if (revoked.has(nodeId)) continue;
      const machine = machines.get(nodeId)!;
      const beat = machine.beat(now);
      if (beat === null || server.wasAway(beat.at)) continue; // nobody stored it
      const isDown = machine.isDead(now - DOWN_AFTER_MS);
      table.heartbeat(nodeId, clocks.writtenAt(beat.at), {
        ...stateOf(node),
        ...beat.facts,
        ...(isDown ? DOWN : {}),
      });
    }
  }

  function dispatch(
    table: RolloutTable,
    launched: Command,
    sentAt: number,
    nudge: (at: number) => void,
  ): void {
    const machine = machines.get(launched.nodeId)!;
    const sequence = (sequences.get(launched.nodeId) ?? 0) + 1;
    sequences.set(launched.nodeId, sequence);
    const command: Sent = { ...launched, sequence };
    const isSigned = clocks.signedAt(sentAt) !== null;
    holds(isSigned, "nothing is signed while clocks disagree", `command ${sequence} of ${command.nodeId}`);
    const fetched = sentAt + random.below(random.chance(0.1) ? 14 * MINUTE_MS : 5_000);
    const times = random.chance(0.15) ? [fetched, fetched + random.below(5 * MINUTE_MS)] : [fetched];
    for (const at of times) time.after(at, fetch);

    function fetch(now: number): void {
      const awake = machine.awakeAt(server.reachableAt(now));
      if (awake > now) return time.after(awake, fetch);
      if (clocks.dated(now) >= command.at + LIMITS.commandLifetimeMs) return; // not handed out any more
      const taken = machine.deliver(command, now, { send: post, later: time.after, head: clocks.signedAt });
      if (taken === "unwritten") time.after(now + MINUTE_MS, fetch);
    }

    function post(when: number, body: ReportRow["body"], kept?: Kept): void {
      const isLost = random.chance(0.1);
      if (isLost && body.kind === "progress") return;
      const isCutOff = body.kind === "verdict" && random.chance(kept === undefined ? 0.02 : 0.3);
      const most = isCutOff ? 5 * 60 * MINUTE_MS : isLost ? MINUTE_MS : 2_000;
      const delay = random.below(most); // it waits on the node's disk until it is stored
      const arrivals = random.chance(0.15) ? [delay, delay + random.below(20 * MINUTE_MS)] : [delay];
      for (const later of arrivals) {
        time.after(when + later, (now) => {
          const stored = server.reachableAt(now);
          time.after(stored, (at) => {
            if (revoked.has(command.nodeId) || kept?.lost === true) return;
            if (kept !== undefined) kept.delivered = true;
            table.report(command.nodeId, clocks.dated(at), body, command.commandId);
            nudge(at);
          });
        });
      }
    }
  }

  /** Puts a rollout under the drive; `after` sees each step. */
  function run(table: RolloutTable, after: (now: number) => void): (at: number) => void {
    addMachines(table);
    tables.push(table);
    const step = watchedStep(table, clocks === STEADY ? 0 : LIMITS.clockDisagreeMs);
    if (random.chance(0.1)) table.breakLaunches(() => random.chance(0.1));
    let sent = 0;
    let listened = "";
    let isListening = false;
    let steppedAt = T0;
    /** For as long as a node is at work, unless the drive was lost: that is another rule's to find. */
    function listenForSilence(now: number): void {
      isListening = table.statuses().includes("in_progress") && now - steppedAt < DRIVE_LOST_MS;
      if (!isListening) return;
      if (server.reachableAt(now) === now && clocks.isOpen()) {
        table.cameBack(server.availableSince());
        listen(table, now);
        if (table.watchSilence(clocks.dated(now), SILENCE_MAX_MS)) nudge(now);
        silenceEnds(table, clocks.dated(now), clocks.dated(clocks.openSince()));
      }
      time.after(server.reachableAt(now + LISTEN_EVERY_MS), listenForSilence);
    }
    const driven: Driven = {
      step(now) {
        table.cameBack(server.availableSince());
        listen(table, now);
        step(clocks.dated(now));
        for (; sent < table.commands.length; sent++) {
          const command = table.commands[sent]!;
          for (const other of tables) if (other !== table) other.supersede(command.nodeId);
          dispatch(table, command, now, nudge);
        }
        const unknown = table.unknown();
        if (unknown !== "" && unknown !== listened)
          for (const later of HEARD_AFTER_MS) time.after(now + later, hear);
        listened = unknown;
        after(now);
        steppedAt = now;
        if (!isListening) listenForSilence(now);
      },
      decideOnly: (now) => decidedOnly(table, clocks.dated(now)),
      hasWork: table.hasWork,
      wakeAt: table.wakeAt,
    };
    const { nudge } = server.drive(driven);
    /** What the sweep finds: a heartbeat tells what a node runs that was given up. */
    function hear(now: number): void {
      const reachable = server.reachableAt(now);
      if (reachable > now) return time.after(reachable + HEARD_AFTER_MS[0]!, hear);
      listen(table, now);
      if (table.hasWork()) nudge(now);
    }
    hears.push(hear);
    return nudge;
  }

  return {
    machines,
    run,
    revoke: (nodeId: string): void => void revoked.add(nodeId),
    /** Every rollout hears of its nodes: a machine that a person mended says what it runs. */
    hear(now: number): void {
      for (const each of hears) each(now);
    },
  };
}

/** A node that is heard again is not down any more. */
function stateOf({ status, facts }: NodeRow): Partial<HealthFacts> {
  if (facts.nodeState !== "down") return {};
  return { nodeState: status === "in_progress" ? "maintenance" : "active" };
}

/** `openSince`: before that no step could give anybody up. */
function silenceEnds(table: RolloutTable, now: number, openSince: number): void {
  for (const { nodeId, status, phase, silentSince, launchedAt } of table.nodes) {
    if (status !== "in_progress" || phase === "VERIFYING" || silentSince === null) continue;
    const waited = now - Math.max(silentSince, launchedAt!, openSince);
    const rule = "a silent node holds its rollout for a bounded time";
    holds(waited <= SILENCE_MAX_MS + SILENCE_SLACK_MS, rule, `${nodeId} was waited for ${waited} ms`);
  }
}
