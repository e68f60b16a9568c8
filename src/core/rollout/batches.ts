/**
 * Which node goes in which batch. The nodes come in the order of the seed.
 *
 * 1. Every node is in exactly one batch; batches are numbered from 0 without a gap.
 * 2. No batch is larger than its size, or holds more nodes of one label value than may be away at once.
 * 3. There are no more batches than (2) needs.
 */
import { unreachable } from "../errors.ts";
import { CANARY_SIZE_DEFAULT, type MaxUnavailable } from "./create.ts";
import type { Strategy } from "./states.ts";

export interface BatchPlan {
  readonly strategy: Strategy;
  readonly batch_size: number;
  readonly canary_size?: number | undefined;
  readonly max_unavailable?: MaxUnavailable | undefined;
}

export interface LabelledNode {
  readonly id: string;
  readonly labels: Readonly<Record<string, string>>;
}

export function cutBatches<T extends LabelledNode>(ordered: readonly T[], plan: BatchPlan): T[][] {
  const { strategy, batch_size: size, max_unavailable: limit } = plan;
  switch (strategy) {
    case "rolling":
      return cut(ordered, size, limit);
    case "canary": {
      const canaries = firstThatFit(ordered, plan.canary_size ?? CANARY_SIZE_DEFAULT, limit);
      const chosen = new Set<T>(canaries);
      const rest = ordered.filter((node) => !chosen.has(node));
      return [canaries, ...cut(rest, size, limit)].filter((batch) => batch.length > 0);
    }
    case "all_at_once":
      return ordered.length === 0 ? [] : [[...ordered]];
    default:
      return unreachable(strategy);
  }
}

function cut<T extends LabelledNode>(
  ordered: readonly T[],
  size: number,
  limit: MaxUnavailable | undefined,
): T[][] {
  if (limit === undefined) {
    const count = Math.ceil(ordered.length / size);
    return Array.from({ length: count }, (_, at) => ordered.slice(at * size, (at + 1) * size));
  }
  // Dealt out like cards, value after value: of n nodes a batch gets at most ⌈n / batches⌉, of all and of each value.
  const values = byValue(ordered, limit.label);
  const largest = Math.max(0, ...values.map((nodes) => Math.ceil(nodes.length / limit.count)));
  const count = Math.max(Math.ceil(ordered.length / size), largest); // (3)
  const batches = Array.from({ length: count }, (): T[] => []);
  for (const [at, node] of values.flat().entries()) batches[at % count]!.push(node);
  return batches;
}

/** A node without the label stands for itself. Values in the order in which the seed first met them. */
function byValue<T extends LabelledNode>(ordered: readonly T[], label: string): T[][] {
  const values = new Map<string, T[]>();
  for (const node of ordered) {
    const key = valueKey(node, label);
    const nodes = values.get(key);
    if (nodes === undefined) values.set(key, [node]);
    else nodes.push(node);
  }
  return [...values.values()];
}

const valueKey = ({ id, labels }: LabelledNode, label: string): string =>
  Object.hasOwn(labels, label) ? `value ${labels[label]!}` : `node ${id}`;

function firstThatFit<T extends LabelledNode>(
  ordered: readonly T[],
  size: number,
  limit: MaxUnavailable | undefined,
): T[] {
  const taken = new Map<string, number>();
  const chosen: T[] = [];
  for (const node of ordered) {
    if (chosen.length === size) break;
    if (limit !== undefined) {
      const key = valueKey(node, limit.label);
      const away = taken.get(key) ?? 0;
      if (away === limit.count) continue;
      taken.set(key, away + 1);
    }
    chosen.push(node);
  }
  return chosen;
}
