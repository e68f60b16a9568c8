// Recipes of config files, as short as a test wants them.
import type { ConfigRecipes, Place, TemplateSource } from "../../../src/core/manifest/recipe.ts";
import type { Variables } from "../../../src/core/manifest/config-change.ts";
import { planConfigs, type NodeFacts, type RenderedConfig } from "../../../src/render/configs.ts";

const START: Place = { file: "templates/a.liquid", line: 1, column: 1 };
export const NODE: NodeFacts = {
  id: "00000000-0000-4000-8000-000000000001",
  name: "edge-1",
  type: "edge",
  labels: { zone: "a", "x-rack": "r1" },
};
export const UPGRADE = { profile: "hello", upgradeId: "v2", targetVersion: "2.0.0", sourceVersion: "1.0.0" };

const source = (text: string): TemplateSource => ({ text, start: START, pointing: "lines" });

interface Asked {
  readonly variables?: Variables;
  readonly overrides?: Variables;
  readonly mode?: string;
}

export const recipe = (
  text: string,
  { variables = {}, overrides = {}, mode }: Asked = {},
): ConfigRecipes => ({
  recipes: [{ kind: "template", path: "a.conf", mode, place: START, template: source(text), variables }],
  overrides,
  overridesPlace: { file: "v2.yaml", line: 9, column: 3 },
});

export function renderedFor(node: NodeFacts, text: string, asked?: Asked): RenderedConfig {
  const { shared, own } = planConfigs(recipe(text, asked), UPGRADE);
  return [...shared, ...(own?.(node) ?? [])][0]!;
}

export const render = (text: string, asked?: Asked): string => renderedFor(NODE, text, asked).content;
