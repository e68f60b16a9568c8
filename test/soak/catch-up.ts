/** Nodes that were left behind, brought to the wanted version: a rollout for each version that they come from. */
import type { NodeView } from "../../src/core/protocol/operator-api.ts";
import { eventually } from "../support/lab/eventually.ts";
import type { Scene } from "./faults.ts";
import type { Brought } from "./releases.ts";
import { beginRollout, settle } from "./settle.ts";

const ROUNDS_MAX = 4;

/** Answers with the number of rollouts that it took. */
export async function catchUp(scene: Scene, wanted: Brought): Promise<number> {
  const { site } = scene;
  let rollouts = 0;
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const nodes = await reportedNodes(scene);
    const behind = nodes.filter((node) => versionOf(node) !== wanted.version);
    if (behind.length === 0) return rollouts;
    for (const [from, group] of Map.groupBy(behind, versionOf)) {
      const names = group.map(({ name }) => name);
      const id = await beginRollout(site, { from: from!, to: wanted, batchSize: names.length, nodes: names });
      await settle(site, id, { manifest: wanted.manifest, isWanted: true, mend: async () => undefined });
      rollouts += 1;
    }
  }
  return rollouts;
}

export const versionOf = ({ profiles }: NodeView): string | null => profiles[0]?.binary_version ?? null;

/** Every machine is heard, and its version is known. */
export const reportedNodes = ({ site, machines }: Scene): Promise<NodeView[]> =>
  eventually("every node is heard and has reported its version", async () => {
    const nodes = await site.operator.nodes();
    const isKnown = machines.every(({ name }) =>
      nodes.some((node) => node.name === name && node.contact === "current" && versionOf(node) !== null),
    );
    return isKnown && nodes;
  });
