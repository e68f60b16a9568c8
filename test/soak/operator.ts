/**
 * The operator of a soak: documented commands of the command line, as a person types them, and nothing else. Every command
 * that changes something is written down.
 */
import type { IncidentView } from "../../src/core/protocol/incident-api.ts";
import type { NodeUpgradeView, NodeView, RolloutView } from "../../src/core/protocol/operator-api.ts";
import { commandEnv } from "../../src/demo/command.ts";
import { fairleadHere, type Ran } from "../support/cli.ts";

export interface OperatorOptions {
  readonly home: string;
  /** The clock of the operator's machine. */
  readonly now: () => number;
  readonly note: (deed: string) => void;
}

export type SoakOperator = ReturnType<typeof createOperator>;

export function createOperator({ home, now, note }: OperatorOptions) {
  const run = (...args: string[]): Promise<Ran> =>
    fairleadHere([...args, "--json"], { env: commandEnv(home), now });

  /** Must succeed. */
  async function ask<T>(...args: string[]): Promise<T> {
    const ran = await run(...args);
    if (ran.code !== 0)
      throw new Error(`fairlead ${args.join(" ")} left with ${ran.code}: ${ran.out}${ran.err}`);
    return ran.json<T>();
  }

  /** With its reason; what the state does not allow (exit code 4) is answered with false: it has moved on meanwhile. */
  async function signal(reason: string, ...args: string[]): Promise<boolean> {
    const ran = await run(...args, "--reason", reason);
    note(`${args.join(" ")} → ${ran.code}`);
    if (ran.code === 0) return true;
    if (ran.code === 4) return false;
    throw new Error(`fairlead ${args.join(" ")} left with ${ran.code}: ${ran.out}${ran.err}`);
  }

  async function change<T>(...args: string[]): Promise<T> {
    note(args.join(" "));
    return ask<T>(...args);
  }

  return {
    ask,
    change,
    signal,
    nodes: async (): Promise<NodeView[]> => {
      const { nodes } = await ask<{ nodes: NodeView[] }>("node", "list");
      return nodes.filter((node) => node.revoked_at === null);
    },
    rollout: (id: string) => ask<RolloutView>("rollout", "show", id),
    rollouts: async () => (await ask<{ rollouts: RolloutView[] }>("rollout", "list")).rollouts,
    upgrades: async (id: string) => (await ask<{ nodes: NodeUpgradeView[] }>("rollout", "nodes", id)).nodes,
    openIncidents: async () =>
      (await ask<{ incidents: IncidentView[] }>("incident", "list", "--status", "open")).incidents,
  };
}
