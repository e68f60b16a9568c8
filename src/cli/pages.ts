/** Lists that come in pages, read to their end. */
import { FairleadError } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import {
  NodeList,
  NodeUpgradeList,
  RolloutList,
  type NodeUpgradeView,
  type NodeView,
  type RolloutView,
} from "../core/protocol/operator-api.ts";
import type { Api } from "./api.ts";

export type Query = Readonly<Record<string, string | undefined>>;

export const listNodes = (api: Api, query: Query = {}): Promise<NodeView[]> =>
  everyPage(async (page) => {
    const { nodes, next_cursor } = await api.get(`/api/v1/nodes?${queryOf({ ...query, ...page })}`, NodeList);
    return { items: nodes, next: next_cursor };
  });

export const listUpgrades = (api: Api, rolloutId: string): Promise<NodeUpgradeView[]> =>
  everyPage(async (page) => {
    const path = `/api/v1/rollouts/${rolloutId}/nodes?${queryOf(page)}`;
    const { nodes, next_cursor } = await api.get(path, NodeUpgradeList);
    return { items: nodes, next: next_cursor };
  });

/** Newest first. */
export const listRollouts = (api: Api, query: Query, itemsMax: number): Promise<RolloutView[]> =>
  everyPage(async (page) => {
    const { rollouts, next_cursor } = await api.get(
      `/api/v1/rollouts?${queryOf({ ...query, ...page })}`,
      RolloutList,
    );
    return { items: rollouts, next: next_cursor };
  }, itemsMax);

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export async function everyPage<T>(read: (page: Query) => Promise<Page<T>>, itemsMax?: number): Promise<T[]> {
  const items: T[] = [];
  const limit = String(Math.min(LIMITS.listPageMax, itemsMax ?? LIMITS.listPageMax));
  let cursor: string | undefined;
  for (;;) {
    const page = await read({ limit, cursor });
    items.push(...page.items);
    if (itemsMax !== undefined && items.length >= itemsMax) return items.slice(0, itemsMax);
    if (page.next === null) return items;
    if (page.next === cursor || items.length > LIMITS.rolloutNodesMax)
      throw new FairleadError("UNREACHABLE", "the server's list has no end");
    cursor = page.next;
  }
}

export function queryOf(query: Query): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new URLSearchParams(given).toString();
}
