/**
 * The filter box: words that must all be found, and `key:value` for one property.
 * The facets above the table write into the same box, so there is one filter and it can be read.
 */
import type { NodeView } from "../../../core/protocol/operator-api.ts";
import { healthOf, profilesOf, standingOf, syncOf, versionsOf } from "./node-facts.ts";

/** A node has a value for each of its programs where it has several. */
const PROPERTIES: Record<string, (node: NodeView, now: number) => string | readonly string[]> = {
  name: (node) => node.name,
  profile: profilesOf,
  type: (node) => node.node_type,
  version: versionsOf,
  state: standingOf,
  health: healthOf,
  sync: syncOf,
  rejection: (node) => node.last_rejection?.code ?? "none",
};

export function filterNodes(nodes: readonly NodeView[], text: string, now: number): readonly NodeView[] {
  const tests = wordsOf(text).map(testOf);
  return nodes.filter((node) => tests.every((test) => test(node, now)));
}

/** Adds a word, or takes it away when it is there. */
export function toggleWord(text: string, word: string): string {
  const words = wordsOf(text);
  return (words.includes(word) ? words.filter((other) => other !== word) : [...words, word]).join(" ");
}

export const hasWord = (text: string, word: string): boolean => wordsOf(text).includes(word);

const wordsOf = (text: string): readonly string[] => text.split(/\s+/).filter((word) => word !== "");

function testOf(word: string): (node: NodeView, now: number) => boolean {
  const [key, ...rest] = word.split(":");
  const property = Object.hasOwn(PROPERTIES, key!) ? PROPERTIES[key!] : undefined;
  // A property is compared whole: `version:1.2` must not find 1.20.
  if (property !== undefined && rest.length > 0) {
    const value = rest.join(":").toLowerCase();
    return (node, now) => [property(node, now)].flat().some((each) => each.toLowerCase() === value);
  }
  const part = word.toLowerCase();
  return (node, now) => textOf(node, now).includes(part);
}

const textOf = (node: NodeView, now: number): string =>
  [
    ...Object.values(PROPERTIES).flatMap((property) => property(node, now)),
    ...Object.entries(node.labels).flat(),
  ]
    .join("\n")
    .toLowerCase();
