/** How a config file is made, once its template is at hand. */
import type { Variables } from "./config-change.ts";

/** Where something stands in a file that a person wrote; both count from 1. */
export interface Place {
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

export interface TemplateSource {
  readonly text: string;
  /** Where the text begins. */
  readonly start: Place;
  /**
   * `lines`: each line of the text is a line of the file, moved right by the same columns.
   * `start`: the text was folded or escaped, and only its beginning can be pointed at.
   */
  readonly pointing: "lines" | "start";
}

interface RecipeHead {
  readonly path: string;
  /** Undefined: what is right for its content. */
  readonly mode: string | undefined;
  /** Null where no file was written by hand. */
  readonly place: Place | null;
}

export type ConfigRecipe =
  | (RecipeHead & { readonly kind: "content"; readonly content: string })
  | (RecipeHead & {
      readonly kind: "template";
      readonly template: TemplateSource;
      readonly variables: Variables;
    });

export interface ConfigRecipes {
  readonly recipes: readonly ConfigRecipe[];
  readonly overrides: Variables;
  readonly overridesPlace: Place;
}

export function placeIn({ start, pointing }: TemplateSource, line: number, column: number): Place {
  if (pointing === "start") return start;
  return { file: start.file, line: start.line + line - 1, column: start.column + column - 1 };
}
