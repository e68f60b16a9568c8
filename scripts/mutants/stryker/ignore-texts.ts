/**
 * A Stryker plugin that leaves out error texts and descriptions: a test of their words would only say them again.
 *
 * 1. Only prose is left out: a literal with a space, in a place that carries a text for people. Codes, names of fields,
 *    scopes and states are decisions and are changed.
 * 2. The condition around a text, and the code beside it, are changed like any other line.
 */

/** As far as this plugin looks at the nodes of Babel, whose types Stryker does not pass on. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly name?: string;
  readonly key?: Node;
  readonly id?: Node;
  readonly callee?: Node;
  readonly property?: Node;
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[];
}

interface NodePath {
  readonly node: Node;
  readonly parentPath: NodePath | null;
}

/** Functions and classes whose texts are for people. */
const SPEAKERS = new Set([
  "Error",
  "FairleadError",
  "describe",
  "fail",
  "invalid",
  "malformed",
  "problem",
  "refuse",
  "refuseTime",
  "refuseUnless",
  "refused",
  "resultMismatch",
  "untrusted",
]);
/** Fields and constants that carry a text for people. */
const TEXT_NAMES = new Set(["message", "next", "reason", "why"]);
/** A text may be chosen or put together in its place. */
const PARTS = new Set(["BinaryExpression", "ConditionalExpression", "LogicalExpression", "TemplateLiteral"]);

export function shouldIgnore(path: NodePath): string | undefined {
  if (!isProse(path.node)) return undefined;
  let place = path.parentPath;
  while (place !== null && PARTS.has(place.node.type)) place = place.parentPath;
  if (place === null || !(isForPeople(place.node) || isReturnedReason(place))) return undefined;
  return "a text for people";
}

/** Functions that are named `why…` return the reason of a refusal, or null. */
function isReturnedReason({ node, parentPath }: NodePath): boolean {
  if (node.type !== "ReturnStatement") return false;
  let outer = parentPath;
  while (outer !== null && outer.node.type !== "FunctionDeclaration") outer = outer.parentPath;
  return outer?.node.id?.name?.startsWith("why") === true;
}

function isProse(node: Node): boolean {
  if (node.type === "StringLiteral") return String(node.value).includes(" ");
  if (node.type === "TemplateLiteral") return node.quasis!.some(({ value }) => value.raw.includes(" "));
  return false;
}

function isForPeople({ type, callee, key, id }: Node): boolean {
  if (type === "CallExpression" || type === "NewExpression")
    return SPEAKERS.has((callee!.type === "MemberExpression" ? callee!.property! : callee!).name ?? "");
  if (type === "ObjectProperty") return TEXT_NAMES.has(key!.name ?? "");
  return type === "VariableDeclarator" && TEXT_NAMES.has(id!.name ?? "");
}

export const strykerPlugins = [{ kind: "Ignore", name: "texts", value: { shouldIgnore } }];
