/**
 * The story of two programs on the same nodes (ROLL-28): a rollout of each, at the same time. An agent runs one job at a
 * time, so a command waits behind its neighbour's job; a limit per label counts nodes that are away for either program.
 */
import { ProfileId } from "../../src/core/ids.ts";
import { isActive } from "../../src/core/rollout/states.ts";
import type { NodeRow } from "../support/rollouts/created-rows.ts";
import { createRolloutTable, type Decide, type RolloutTable } from "../support/rollouts/rollout-table.ts";
import { T0 } from "../support/rollouts/scenes.ts";
import { checkCompensations, checkEnd, checkRest } from "./check-end.ts";
import { checkMachine } from "./check-machine.ts";
import { createFleet, type World } from "./fleet.ts";
import { settleAll, settleRollout } from "./last-operator.ts";
import type { Sent } from "./agent-authority.ts";
import type { AgentIo, Delivered, Machine } from "./machine.ts";
import { operate } from "./operators.ts";
import { holds } from "./violation.ts";
import { rolloutWish } from "./wishes.ts";

const PROFILES = ["execution", "consensus"].map((name) => ProfileId.parse(name));
/** Of the second profile's rows and ids. */
const SECOND = 5;

export interface Agent {
  /** The program whose job runs, and until when. */
  running: { readonly profile: ProfileId; readonly until: number } | null;
}

export function playNeighbours(world: World, { decide }: { readonly decide?: Decide | undefined }) {
  const { random } = world;
  const fleet = createFleet(world);
  const tables = [0, SECOND].map((number) => createRolloutTable({ ...rolloutWish(random), number }, decide));
  const agents: Agent[] = Array.from(
    { length: Math.max(...tables.map(({ nodes }) => nodes.length)) },
    () => ({
      running: null,
    }),
  );
  const nudges = tables.map((table, index) => {
    const neighbour = tables[1 - index]!;
    let batch = -1;
    const nudge = fleet.run(table, () => {
      if (table.rollout().currentBatch > batch) placesHold(table);
      batch = table.rollout().currentBatch;
      for (const [at, node] of neighbour.nodes.entries()) node.elsewhere = elsewhereOf(table.nodes[at]);
    });
    for (const [at, { nodeId }] of table.nodes.entries()) {
      const shared = onAgent(world, agents[at]!, PROFILES[index]!, fleet.machines.get(nodeId)!);
      fleet.machines.set(nodeId, shared);
    }
    operate(world, { table, from: T0, nudge, mayReopen: () => true, isComponent: false });
    return nudge;
  });
  world.time.runAll();
  for (const table of tables) checkRest(table);
  const found = settleAll(world, {
    left: () => tables.map((table) => table.rollout().status).find(isActive) ?? null,
    settle: (now, callsOff) => {
      for (const [index, table] of tables.entries())
        settleRollout({ table, nudge: nudges[index]!, isComponent: false }, now, callsOff);
    },
  });
  for (const table of tables) {
    checkEnd(table);
    for (const node of table.nodes) {
      holds(node.waitingFor === null, "a person can bring everything to its end", `${node.nodeId} waits`);
      checkMachine(node, fleet.machines.get(node.nodeId)!);
    }
    checkCompensations(table);
  }
  return { rollouts: tables, found };
}

/** The same machine, whose agent begins nothing while its neighbour's job runs. */
export function onAgent({ time }: World, agent: Agent, profile: ProfileId, machine: Machine): Machine {
  const held = new Set<string>();

  function deliver(command: Sent, now: number, io: AgentIo): Delivered {
    const { running } = agent;
    if (running !== null && running.profile !== profile && running.until > now) {
      if (held.has(command.commandId)) return "taken"; // it waits in the ledger already
      held.add(command.commandId);
      io.send(now, { kind: "waiting", waiting_for: running.profile, jobs_ahead: 1 });
      time.after(running.until, (later) => begin(command, later, io));
      return "taken";
    }
    return held.has(command.commandId) ? "taken" : begin(command, now, io);
  }

  function begin(command: Sent, now: number, io: AgentIo): Delivered {
    const { running } = agent;
    if (running !== null && running.profile !== profile && running.until > now) {
      time.after(running.until, (at) => begin(command, at, io));
      return "taken";
    }
    let until = now;
    const watched: AgentIo["send"] = (at, body, kept) => {
      until = Math.max(until, at);
      io.send(at, body, kept);
    };
    const delivered = machine.deliver(command, now, { ...io, send: watched });
    agent.running = { profile, until: Math.max(until, running?.profile === profile ? running.until : 0) };
    return delivered;
  }

  return { ...machine, deliver };
}

export function elsewhereOf(node: NodeRow | undefined): NodeRow["elsewhere"] {
  if (node === undefined) return null;
  if (node.status === "in_progress") return "busy";
  return ["degraded", "failed"].includes(node.facts.nodeState) ? "away" : null;
}

/** A batch that begins takes no more nodes of a label value away than the limit, those away for the neighbour included. */
function placesHold({ nodes, rollout }: RolloutTable): void {
  const { maxUnavailable, status } = rollout();
  if (maxUnavailable === null || status !== "running") return;
  const away = nodes.filter(({ status: each, elsewhere }) => each === "in_progress" || elsewhere !== null);
  for (const [value, taken] of Map.groupBy(away, ({ labelValue }) => labelValue)) {
    if (!taken.some(({ status: each }) => each === "in_progress")) continue;
    const what = `${taken.length} nodes of ${value} are away, ${maxUnavailable.count} may be`;
    holds(taken.length <= maxUnavailable.count, "no batch before its gate", what);
  }
}
