/**
 * The config files of a rollout's nodes.
 *
 * 1. Rendered before the transaction, with a breath between nodes: ten thousand of them keep neither a connection nor
 *    everyone else waiting. What changed of a node meanwhile is rendered again inside it.
 */
import { setImmediate as nextTurn } from "node:timers/promises";
import { FairleadError } from "../../core/errors.ts";
import { LIMITS } from "../../core/limits.ts";
import type { ConfigPlan, NodeFacts } from "../../render/configs.ts";
import { openConfigBook, type ConfigBook, type NodeConfigs } from "../../render/node-configs.ts";
import { configSeal } from "../../trust/config-secrets.ts";

export interface NodeFiles extends ConfigBook {
  renderAhead(nodes: readonly NodeFacts[], now: () => number): Promise<void>;
}

const NODES_AT_ONCE = 20;

export function openNodeFiles(plan: ConfigPlan): NodeFiles {
  const book = openConfigBook(plan, configSeal);
  const rendered = new Map<string, NodeConfigs>();
  const of = (node: NodeFacts): NodeConfigs => {
    if (plan.own === null) return book.of(node);
    const key = JSON.stringify([node.id, node.name, node.type, Object.entries(node.labels)]);
    const known = rendered.get(key) ?? book.of(node);
    rendered.set(key, known);
    return known;
  };
  return {
    ...book,
    of,
    async renderAhead(nodes, now) {
      if (plan.own === null) return;
      const until = now() + LIMITS.rolloutRenderMs;
      for (const [at, node] of nodes.entries()) {
        if (at % NODES_AT_ONCE === NODES_AT_ONCE - 1) await nextTurn();
        if (now() > until)
          throw new FairleadError(
            "TEMPLATE_INVALID",
            `rendering took longer than ${LIMITS.rolloutRenderMs} ms`,
          );
        of(node);
      }
    },
  };
}
