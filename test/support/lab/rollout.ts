/** Rollouts as an operator makes them, and their end. */
import type { RolloutView } from "../../../src/core/protocol/operator-api.ts";
import { eventually } from "./eventually.ts";
import type { Lab } from "./lab.ts";
import { NODE_TYPE } from "./agent-of-node.ts";
import type { Published } from "./origin.ts";

export interface RolloutOptions {
  readonly profile?: string;
  readonly from: string;
  readonly to: Published;
  readonly batchSize?: number;
  readonly healthWait?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly nodes?: readonly string[];
}

export function createArgs({ profile = "hello", from, to, ...more }: RolloutOptions): string[] {
  const { batchSize = 10, healthWait = "0s", env = {}, nodes = [] } = more;
  return [
    ["rollout", "create", "--profile", profile, "--type", NODE_TYPE, "--binary-name", "hello"],
    ["--source-version", from, "--target-version", to.version, "--url", to.url, "--checksum", to.checksum],
    ["--batch-size", String(batchSize), "--health-wait", healthWait],
    ...Object.entries(env).map(([name, value]) => ["--env", `${name}=${value}`]),
    ...nodes.map((name) => ["--node", name]),
  ].flat();
}

/** Signed, created and started by the CLI; answers with its id. */
export async function startRollout(lab: Lab, options: RolloutOptions): Promise<string> {
  return runCreate(lab, [...createArgs(options), "--start"]);
}

export async function runCreate(lab: Lab, args: readonly string[]): Promise<string> {
  const created = await lab.operator.fairlead(...args, "--json");
  if (created.code !== 0) throw new Error(`rollout create left with ${created.code}: ${created.out}`);
  return created.json<RolloutView>().id;
}

export const reaches = (lab: Lab, id: string, ...statuses: RolloutView["status"][]): Promise<RolloutView> =>
  eventually(`rollout ${id} is ${statuses.join(" or ")}`, async () => {
    const rollout = await lab.operator.rollout(id);
    return statuses.includes(rollout.status) && rollout;
  });

/** Its end, whatever it is: a pause counts, for nothing goes on by itself after it. */
const ends = (lab: Lab, id: string): Promise<RolloutView> =>
  reaches(lab, id, "completed", "failed", "cancelled", "paused");

export interface Ending {
  readonly status: RolloutView["status"];
  readonly why: string | null;
  /** By node. */
  readonly nodes: Readonly<Record<string, string>>;
}

/** How it ended, in a form that says at once what went wrong where. */
export async function endingOf(lab: Lab, id: string): Promise<Ending> {
  const { status, why } = await ends(lab, id);
  const upgrades = await lab.operator.upgrades(id);
  const nodes = upgrades.map((node) => [
    node.node_name,
    node.error_code === null ? node.status : `${node.status} ${node.error_code}: ${node.error_message}`,
  ]);
  return { status, why: why?.code ?? null, nodes: Object.fromEntries(nodes) as Record<string, string> };
}

export const completed = (nodes: readonly { readonly name: string }[]): Ending => ({
  status: "completed",
  why: null,
  nodes: Object.fromEntries(nodes.map(({ name }) => [name, "succeeded"])),
});
