/** A manifest's bytes to what it means: itself, and the recipes of its config files with their templates at hand. */
import { FairleadError } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import type { ConfigRecipe, ConfigRecipes, TemplateSource } from "../core/manifest/recipe.ts";
import { Manifest } from "../core/manifest/schema.ts";
import { problemError, readYaml, type ReadYaml, type YamlDocument } from "./yaml-file.ts";

export interface OpenManifest {
  readonly manifest: Manifest;
  readonly document: YamlDocument;
}

/** A template's file by its name; undefined if there is none. */
export type ReadTemplate = (name: string) => Promise<{ file: string; bytes: Uint8Array } | undefined>;

export const readManifest = (bytes: Uint8Array, file: string): ReadYaml<Manifest> => {
  if (bytes.length <= LIMITS.manifestBytesMax) return readYaml(bytes, Manifest, file);
  const message = `larger than ${LIMITS.manifestBytesMax} bytes`;
  return { kind: "broken", problems: [{ message, place: { file, line: 1, column: 1 } }] };
};

/** Throws MANIFEST_INVALID with line and column. */
export function openManifest(bytes: Uint8Array, file: string): OpenManifest {
  const read = readManifest(bytes, file);
  if (read.kind === "broken") throw problemError("MANIFEST_INVALID", read.problems[0]);
  return { manifest: read.value, document: read.document };
}

/** Throws TEMPLATE_NOT_FOUND where a template is named that is not there. */
export async function recipesOf(
  { manifest, document }: OpenManifest,
  readTemplate: ReadTemplate,
): Promise<ConfigRecipes> {
  const recipes: ConfigRecipe[] = [];
  for (const at of manifest.config_changes.keys())
    recipes.push(await recipeAt({ manifest, document }, at, readTemplate));
  return {
    recipes,
    overrides: manifest.variable_overrides,
    overridesPlace: document.placeOf(["variable_overrides"]),
  };
}

export async function recipeAt(
  { manifest, document }: OpenManifest,
  at: number,
  readTemplate: ReadTemplate,
): Promise<ConfigRecipe> {
  const { path, mode, content = "", template, variables = {} } = manifest.config_changes[at]!;
  const here = ["config_changes", at] as const;
  const head = { path, mode, place: document.placeOf([...here, "mode"]) };
  if (template === undefined) return { ...head, kind: "content", content };
  const source =
    typeof template === "string"
      ? await fromFile(template, readTemplate, document.placeOf([...here, "template"]))
      : document.textAt([...here, "template", "inline"]);
  return { ...head, kind: "template", template: source, variables };
}

async function fromFile(
  name: string,
  readTemplate: ReadTemplate,
  place: ReturnType<YamlDocument["placeOf"]>,
): Promise<TemplateSource> {
  const found = await readTemplate(name);
  if (found === undefined)
    throw problemError("TEMPLATE_NOT_FOUND", { message: `no template ${name} under templates/`, place });
  const { file, bytes } = found;
  return { text: textOf(bytes, file), start: { file, line: 1, column: 1 }, pointing: "lines" };
}

function textOf(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new FairleadError(
      "TEMPLATE_INVALID",
      `${file}:1:1: not UTF-8`,
      { file, line: 1, column: 1 },
      cause,
    );
  }
}
