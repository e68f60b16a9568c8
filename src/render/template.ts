/**
 * One template: parsed and checked once, rendered for each node.
 *
 * 1. A variable that nobody gives is found when the template is read, in branches that no node takes too.
 * 2. A complaint points into the file that a person wrote.
 * 3. Values are text: what looks like an expression in one is never evaluated.
 */
import { Context, LiquidError, toValueSync, type Template as Parsed } from "liquidjs";
import { FairleadError } from "../core/errors.ts";
import { LIMITS } from "../core/limits.ts";
import { placeIn, type Place, type TemplateSource } from "../core/manifest/recipe.ts";
import { createEngine } from "./engine.ts";

const engine = createEngine();
const TOO_DEEP = `nested too deep: more than ${LIMITS.templateNestingMax} levels`;

/** The fields of the built-in variables; null: a text. `labels` differ from node to node. */
const FIELDS: Readonly<Record<string, readonly string[] | null>> = {
  profile: null,
  node: ["id", "name", "type", "labels"],
  upgrade: ["id", "target_version", "source_version"],
};

export interface CheckedTemplate {
  /** False: the same for every node. */
  readonly perNode: boolean;
  readonly uses: ReadonlySet<string>;
  render(scope: object): string;
}

export function readTemplate(source: TemplateSource, variables: readonly string[]): CheckedTemplate {
  if (source.text.length > LIMITS.templateBytesMax)
    throw complaint(`longer than ${LIMITS.templateBytesMax} characters`, source.start);
  const parsed = pointing(source, () => engine.parse(source.text));
  if (isTooDeep(parsed)) throw complaint(TOO_DEEP, source.start);
  const globals = pointing(source, () => engine.analyzeSync(parsed, { partials: false }).globals);
  for (const uses of Object.values(globals)) {
    for (const { segments, location } of uses) {
      const unknown = unknownIn(segments.map(String), variables); // (1)
      if (unknown !== null)
        throw complaint(`unknown variable ${unknown}`, placeIn(source, location.row, location.col));
    }
  }
  return {
    perNode: Object.hasOwn(globals, "node"),
    uses: new Set(Object.keys(globals)),
    render: (scope) => pointing(source, () => rendered(parsed, scope)),
  };
}

/** A number, not the stack's size: what one machine takes, every machine takes. */
function isTooDeep(parsed: Parsed[]): boolean {
  let level = parsed;
  for (let depth = 0; depth <= LIMITS.templateNestingMax; depth += 1) {
    level = level.flatMap((each) => (each.children ? toValueSync(each.children(false, true)) : []));
    if (level.length === 0) return false;
  }
  return true;
}

function unknownIn([root = "", field]: readonly string[], variables: readonly string[]): string | null {
  if (variables.includes(root)) return null;
  if (!Object.hasOwn(FIELDS, root)) return root;
  const fields = FIELDS[root]!;
  if (fields === null || (field !== undefined && fields.includes(field))) return null;
  return field === undefined ? `${root} (say which field: ${fields.join(", ")})` : `${root}.${field}`;
}

function rendered(parsed: Parsed[], scope: object): string {
  const context = new Context(scope, engine.options, { sync: true }, { liquid: engine });
  const output = boundedOutput();
  toValueSync(engine.renderer.renderTemplates(parsed, context, output));
  return output.buffer;
}

function boundedOutput() {
  return {
    buffer: "",
    write(value: unknown): void {
      this.buffer += textOf(value);
      if (this.buffer.length > LIMITS.configFileBytesMax)
        throw new Error(`the file is larger than ${LIMITS.configFileBytesMax} bytes`);
    },
  };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (Number.isFinite(value)) return String(value);
    throw new Error("the number is too large, or none");
  }
  throw new Error("a list or a group of values is no text: name one of its fields, or use the filter json");
}

function pointing<T>(source: TemplateSource, work: () => T): T {
  try {
    return work();
  } catch (error) {
    // The engine recurses, and so does what it reads.
    if (error instanceof RangeError) throw complaint(TOO_DEEP, source.start, error);
    if (!LiquidError.is(error)) throw error;
    const [line, column] = error.token.getPosition() as [number, number];
    throw complaint(wordsOf(error), placeIn(source, line, column), error); // (2)
  }
}

/** Without the place, which is the file's and not the template's. */
function wordsOf(error: LiquidError): string {
  if (error.originalError instanceof RangeError) return TOO_DEEP;
  return (error.originalError?.message ?? error.message).split("\n")[0]!.replace(/, line:\d+, col:\d+$/, "");
}

const complaint = (message: string, place: Place, cause?: unknown): FairleadError =>
  new FairleadError(
    "TEMPLATE_INVALID",
    `${place.file}:${place.line}:${place.column}: ${message}`,
    { ...place },
    cause,
  );
