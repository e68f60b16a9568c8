/**
 * From recipes to the config files of each node (ROLL-17). Server and CLI run this same code: an intent names each
 * node's files by digest, so both must come to the same bytes.
 */
import { FairleadError } from "../core/errors.ts";
import type { ConfigRecipe, ConfigRecipes } from "../core/manifest/recipe.ts";
import { hasControl } from "../core/text.ts";
import { readTemplate, type CheckedTemplate } from "./template.ts";

export interface NodeFacts {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface UpgradeFacts {
  readonly profile: string;
  /** Null in manual mode, which has no templates. */
  readonly upgradeId: string | null;
  readonly targetVersion: string;
  readonly sourceVersion: string;
}

export interface RenderedConfig {
  readonly path: string;
  readonly mode: string;
  readonly content: string;
}

export interface ConfigPlan {
  /** Everyone's, sorted by path. */
  readonly shared: readonly RenderedConfig[];
  /** Null: no file differs from node to node. */
  readonly own: ((node: NodeFacts) => RenderedConfig[]) | null;
}

type Prepared =
  | { readonly recipe: Extract<ConfigRecipe, { kind: "content" }>; readonly template: null }
  | { readonly recipe: Extract<ConfigRecipe, { kind: "template" }>; readonly template: CheckedTemplate };

/** Throws TEMPLATE_INVALID or CONFIG_MODE_UNSAFE for what is wrong whatever the node. */
export function planConfigs(recipes: ConfigRecipes, upgrade: UpgradeFacts): ConfigPlan {
  const plan = planRecipes(recipes, upgrade);
  refuseUnusedOverrides(recipes);
  return plan;
}

function prepare({ recipes, overrides }: ConfigRecipes): Prepared[] {
  return recipes.toSorted(byPath).map((recipe): Prepared => {
    if (recipe.kind === "content") return { recipe, template: null };
    const names = Object.keys({ ...recipe.variables, ...overrides });
    return { recipe, template: readTemplate(recipe.template, names) };
  });
}

/** Without looking for overrides that nothing uses, as for a part of a manifest. */
export function planRecipes(recipes: ConfigRecipes, upgrade: UpgradeFacts): ConfigPlan {
  const prepared = prepare(recipes);
  const { overrides } = recipes;
  const scope = {
    profile: upgrade.profile,
    upgrade: {
      id: upgrade.upgradeId,
      target_version: upgrade.targetVersion,
      source_version: upgrade.sourceVersion,
    },
  };
  const render = ({ recipe, template }: Prepared, node?: NodeFacts): RenderedConfig => {
    const content =
      template === null
        ? recipe.content
        : template.render({
            ...recipe.variables,
            ...overrides,
            ...scope,
            ...(node === undefined ? {} : { node }),
          });
    return { path: recipe.path, mode: modeOf(recipe, content), content };
  };
  const perNode = prepared.filter(({ template }) => template?.perNode === true);
  return {
    shared: prepared.filter(({ template }) => template?.perNode !== true).map((each) => render(each)),
    own:
      perNode.length === 0
        ? null
        : (node) => {
            const facts = checkedFacts(node);
            return perNode.map((each) => telling(node, () => render(each, facts)));
          },
  };
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

/** An override that no template asks for is a typing error, and would change nothing silently. */
export function refuseUnusedOverrides(recipes: ConfigRecipes): void {
  const used = new Set(prepare(recipes).flatMap(({ template }) => [...(template?.uses ?? [])]));
  const unused = Object.keys(recipes.overrides).find((name) => !used.has(name));
  const place = recipes.overridesPlace;
  if (unused === undefined) return;
  const message = `${place.file}:${place.line}:${place.column}: no template uses the override ${unused}`;
  throw new FairleadError("TEMPLATE_INVALID", message, { ...place });
}

const SECRET_REFERENCE = "secret://";

/** A file with a reference in it is its owner's alone, whatever the rest of the manifest says of modes. */
function modeOf({ path, mode, place }: ConfigRecipe, content: string): string {
  if (!content.includes(SECRET_REFERENCE)) return mode ?? "0644";
  if (mode === undefined || mode === "0600") return "0600";
  const where = place === null ? "" : `${place.file}:${place.line}:${place.column}: `;
  throw new FairleadError("CONFIG_MODE_UNSAFE", `${where}${path} has a secret reference and mode ${mode}`, {
    ...place,
    path,
    mode,
  });
}

/** Names and labels come from the database: a line break in one would write a line of the config. */
function checkedFacts({ id, name, type, labels }: NodeFacts): NodeFacts {
  const bad = Object.entries(labels).find(([key, value]) => hasControl(key) || hasControl(value));
  if (bad !== undefined || hasControl(name)) {
    const what = bad === undefined ? "name" : `label ${JSON.stringify(bad[0])}`;
    throw new FairleadError("TEMPLATE_INVALID", `node ${id}: control characters in its ${what}`, {
      node_id: id,
    });
  }
  return { id, name, type, labels: Object.fromEntries(Object.entries(labels).toSorted(byKey)) };
}

/** A template may go over all labels: their order must not be the database's. */
const byKey = ([a]: readonly [string, string], [b]: readonly [string, string]): number => (a < b ? -1 : 1);

function telling<T>(node: NodeFacts, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof FairleadError)) throw error;
    const message = `${error.message} (for node ${node.name})`;
    throw new FairleadError(error.code, message, { ...error.detail, node_id: node.id }, error);
  }
}
