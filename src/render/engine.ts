/**
 * The template engine: Liquid with what is listed here and nothing else.
 *
 * 1. No file, clock or chance can be reached: tags and filters that do are not registered, nor is any that loads another
 *    template. The same template and the same values give the same bytes on every machine.
 * 2. Work and output are bounded.
 */
import { Liquid } from "liquidjs";
import { LIMITS } from "../core/limits.ts";

const TAGS: ReadonlySet<string> = new Set(
  [
    ["assign", "if", "unless", "case", "for", "break", "continue"],
    ["comment", "raw", "#"],
  ].flat(),
);

const FILTERS: ReadonlySet<string> = new Set(
  [
    ["default", "json", "append", "prepend", "upcase", "downcase", "capitalize"],
    ["strip", "lstrip", "rstrip", "replace", "replace_first", "remove", "truncate", "slice"],
    ["split", "join", "first", "last", "size", "sort", "uniq"],
    [
      "plus",
      "minus",
      "times",
      "divided_by",
      "modulo",
      "abs",
      "ceil",
      "floor",
      "round",
      "at_least",
      "at_most",
    ],
  ].flat(),
);

/** What filters and ranges may make, in characters and items. */
const WORK_MAX = 4 * LIMITS.configFileBytesMax;

const refuse = (): never => {
  throw new Error("templates reach no files");
};

export function createEngine(): Liquid {
  const engine = new Liquid({
    strictVariables: true,
    strictFilters: true,
    // `if` and `default` may ask for a label that a node does not have.
    lenientIf: true,
    ownPropertyOnly: true,
    cache: false,
    renderLimit: LIMITS.templateRenderMs,
    memoryLimit: WORK_MAX,
    fs: {
      sep: "/",
      exists: refuse,
      existsSync: refuse,
      contains: refuse,
      containsSync: refuse,
      readFile: refuse,
      readFileSync: refuse,
      resolve: refuse,
      dirname: refuse,
    },
  });
  for (const name of Object.keys(engine.tags)) if (!TAGS.has(name)) delete engine.tags[name]; // (1)
  for (const name of Object.keys(engine.filters)) if (!FILTERS.has(name)) delete engine.filters[name];
  return engine;
}
