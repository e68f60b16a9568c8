/** The fleet at a glance: how many nodes share a value, each with the word that filters for it. */
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { HEALTH_LOOKS, type Look } from "../../ui/tones.ts";
import { healthOf, STANDING_LOOKS, standingOf, versionsOf } from "./node-facts.ts";

export interface Facet {
  readonly word: string;
  readonly look: Look;
  readonly count: number;
}

/** Always shown, also with no node in it: a tile that comes and goes would move its neighbours. */
const FIXED_STANDINGS = ["active", "degraded", "down", "failed"] as const;
const VERSIONS_MAX = 6;

export function standingFacets(nodes: readonly NodeView[]): readonly Facet[] {
  const counts = countBy(nodes, standingOf);
  return (Object.keys(STANDING_LOOKS) as (keyof typeof STANDING_LOOKS)[])
    .filter((standing) => counts.has(standing) || (FIXED_STANDINGS as readonly string[]).includes(standing))
    .map((standing) => ({
      word: `state:${standing}`,
      look: STANDING_LOOKS[standing],
      count: counts.get(standing) ?? 0,
    }));
}

export function healthFacets(nodes: readonly NodeView[], now: number): readonly Facet[] {
  const counts = countBy(nodes, (node) => healthOf(node, now));
  return (Object.keys(HEALTH_LOOKS) as (keyof typeof HEALTH_LOOKS)[]).map((health) => ({
    word: `health:${health}`,
    look: HEALTH_LOOKS[health],
    count: counts.get(health) ?? 0,
  }));
}

/** The most frequent first. */
export function versionFacets(nodes: readonly NodeView[]): readonly Facet[] {
  return [...countEach(nodes, versionsOf)]
    .toSorted(([versionA, a], [versionB, b]) => b - a || versionA.localeCompare(versionB))
    .slice(0, VERSIONS_MAX)
    .map(([version, count]) => ({
      word: `version:${version}`,
      look: { tone: "neutral", icon: "circle", label: version },
      count,
    }));
}

const countBy = <K>(nodes: readonly NodeView[], keyOf: (node: NodeView) => K): Map<K, number> =>
  countEach(nodes, (node) => [keyOf(node)]);

/** A node with two programs at one version counts once for it. */
function countEach<K>(nodes: readonly NodeView[], keysOf: (node: NodeView) => readonly K[]): Map<K, number> {
  const counts = new Map<K, number>();
  for (const node of nodes)
    for (const key of new Set(keysOf(node))) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}
