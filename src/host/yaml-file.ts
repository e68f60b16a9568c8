/**
 * YAML from people.
 *
 * 1. No alias is followed, so a small file stays small.
 * 2. Every complaint points at a line and a column, and all of them are told.
 */
import { isAlias, isMap, isNode, isScalar, LineCounter, parseDocument, visit, type Document } from "yaml";
import type { core, z } from "zod";
import type { ErrorCode } from "../core/error-codes.ts";
import { FairleadError } from "../core/errors.ts";
import type { Place, TemplateSource } from "../core/manifest/recipe.ts";

/** More would only bury the first ones. */
const PROBLEMS_MAX = 50;
const TOO_DEEP = "nested too deep";

type Issue = core.$ZodIssue;

export interface Problem {
  readonly message: string;
  readonly place: Place;
}

export interface YamlDocument {
  /** Where the value at the path stands, or where its nearest parent does. */
  placeOf(path: readonly PropertyKey[]): Place;
  /** A text of the document as a source of its own, with where it begins. */
  textAt(path: readonly PropertyKey[]): TemplateSource;
}

export type ReadYaml<T> =
  | { readonly kind: "read"; readonly value: T; readonly document: YamlDocument }
  | { readonly kind: "broken"; readonly problems: readonly [Problem, ...Problem[]] };

export function readYaml<T extends z.ZodType>(
  bytes: Uint8Array,
  schema: T,
  file: string,
): ReadYaml<z.infer<T>> {
  const lines = new LineCounter();
  const at = (offset: number | undefined): Place => {
    const { line, col } = lines.linePos(offset ?? 0);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const text = new TextDecoder("utf-8").decode(bytes);
  const document = parseDocument(text, { lineCounter: lines, strict: true, uniqueKeys: true });
  const refused = [...document.errors.map(spoken), ...unsafeParts(document)];
  const deep = refused.find(({ message }) => message === TOO_DEEP);
  if (deep !== undefined) return broken([{ message: TOO_DEEP, place: at(deep.offset) }]);
  if (refused.length > 0)
    return broken(refused.map(({ message, offset }) => ({ message, place: at(offset) })));
  const parsed = schema.safeParse(document.toJS({ maxAliasCount: 0 }));
  const own: YamlDocument = {
    placeOf: (path) => at(offsetOf(document, path)),
    textAt: (path) => sourceAt(document, path, text, at),
  };
  if (parsed.success) return { kind: "read", value: parsed.data, document: own };
  return broken(parsed.error.issues.flatMap((issue) => problemsOf(issue, document, at)));
}

function problemsOf(issue: Issue, document: Document, at: (offset: number | undefined) => Place): Problem[] {
  const told = closest(issue);
  if (told.code === "unrecognized_keys") {
    return told.keys.map((key) => ({
      message: `${[...told.path, key].join(".")}: unknown key`,
      place: at(keyOffset(document, told.path, key)),
    }));
  }
  const where = told.path.join(".") || "the document";
  return [{ message: `${where}: ${told.message}`, place: at(offsetOf(document, told.path)) }];
}

/** Of a union's branches the one that was meant, and of a key what is wrong with it. */
function closest(issue: Issue): Issue {
  const branches =
    issue.code === "invalid_union" ? issue.errors : issue.code === "invalid_key" ? [issue.issues] : [];
  // A branch of another kind altogether was not meant; of the others, the one with the fewest complaints.
  const meant = branches.filter(([first]) => first?.code !== "invalid_type" || first.path.length > 0);
  const [best] = (meant.length > 0 ? meant : branches).toSorted((left, right) => left.length - right.length);
  const inner = best?.[0];
  return inner === undefined ? issue : closest({ ...inner, path: [...issue.path, ...inner.path] });
}

/** The first problem as an error. */
export function parseYaml<T extends z.ZodType>(
  bytes: Uint8Array,
  schema: T,
  code: ErrorCode,
  file: string,
): z.infer<T> {
  const read = readYaml(bytes, schema, file);
  if (read.kind === "read") return read.value;
  throw problemError(code, read.problems[0]);
}

export const problemError = (code: ErrorCode, { message, place }: Problem): FairleadError =>
  new FairleadError(code, `${place.file}:${place.line}:${place.column}: ${message}`, { ...place });

const broken = (problems: readonly Problem[]): Extract<ReadYaml<never>, { kind: "broken" }> => ({
  kind: "broken",
  problems: problems.toSorted(byPlace).slice(0, PROBLEMS_MAX) as [Problem, ...Problem[]],
});

const byPlace = ({ place: a }: Problem, { place: b }: Problem): number =>
  a.line - b.line || a.column - b.column;

interface Refusal {
  readonly message: string;
  readonly offset: number | undefined;
}

const spoken = (error: Document["errors"][number]): Refusal => {
  const message = error.message.split("\n")[0]!.replace(/ at line \d+, column \d+:?$/, "");
  return {
    message: message.startsWith("Maximum call stack") ? TOO_DEEP : message,
    offset: error.pos[0],
  };
};

/** Invariant 1: an alias is refused where it stands, before anything is expanded. */
function unsafeParts(document: Document): Refusal[] {
  const found: Refusal[] = [];
  visit(document, (key, node) => {
    if (isAlias(node)) found.push({ message: "aliases are refused", offset: node.range?.[0] });
    if (key === "key" && isScalar(node) && node.value === "__proto__")
      found.push({ message: "__proto__: unknown key", offset: node.range?.[0] });
  });
  return found;
}

/** The deepest node on the way to the field that exists: a missing field is reported where its parent stands. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return undefined;
}

function keyOffset(document: Document, path: readonly PropertyKey[], key: string): number | undefined {
  const map = path.length === 0 ? document.contents : document.getIn(path, true);
  const pair = isMap(map)
    ? map.items.find((item) => isScalar(item.key) && item.key.value === key)
    : undefined;
  return isScalar(pair?.key) ? pair.key.range?.[0] : offsetOf(document, path);
}

function sourceAt(
  document: Document,
  path: readonly PropertyKey[],
  text: string,
  at: (offset: number | undefined) => Place,
): TemplateSource {
  const node = document.getIn(path, true);
  if (!isScalar(node) || typeof node.value !== "string" || !node.range)
    throw new FairleadError("INTERNAL", `no text at ${path.join(".")}`);
  const value = node.value;
  if (node.type === "BLOCK_LITERAL") {
    // The lines follow the header, each after the same indent.
    const first = text.indexOf("\n", node.range[0]) + 1;
    const lead = /^(?:[ \t]*\r?\n)*/.exec(text.slice(first))![0];
    const indent = /^ */.exec(text.slice(first + lead.length))![0].length;
    return { text: value, start: { ...at(first), column: indent + 1 }, pointing: "lines" };
  }
  const quoted = node.type?.startsWith("QUOTE") === true ? 1 : 0;
  const begins = node.range[0] + quoted;
  const asWritten = text.startsWith(value, begins) && !value.includes("\n");
  return { text: value, start: at(begins), pointing: asWritten ? "lines" : "start" };
}
