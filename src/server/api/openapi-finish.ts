/** What generators leave undone in an OpenAPI document: names, words, and which bodies may be left out. */
import { STATUS_CODES } from "node:http";
import type { OpenAPIV3_1 } from "openapi-types";

type Document = Partial<OpenAPIV3_1.Document>;
type Operation = OpenAPIV3_1.OperationObject;

/** `GET /api/v1/rollouts/:id/nodes` is `getRolloutsByIdNodes`: stable as long as the route is. */
export function operationIdOf(method: string, url: string): string {
  const words = url
    .replace(/^\/api\/v\d+/, "")
    .split("/")
    .flatMap((segment) =>
      segment.startsWith(":") ? ["by", segment.slice(1)] : segment.split(/[^A-Za-z0-9]/),
    )
    .filter((word) => word !== "");
  const capital = (word: string): string => word[0]!.toUpperCase() + word.slice(1);
  return method.toLowerCase() + words.map(capital).join("");
}

export function finishDocument(document: Document): Document {
  for (const operation of operationsOf(document)) {
    allowNoBody(operation);
    nameStatuses(operation);
  }
  return withoutUnused(document);
}

const operationsOf = ({ paths = {} }: Document): Operation[] =>
  Object.values(paths).flatMap((path) => Object.values(path ?? {}) as Operation[]);

/** A body that may be null may also be left out. */
function allowNoBody({ requestBody }: Operation): void {
  if (requestBody === undefined || "$ref" in requestBody) return;
  const schema = requestBody.content["application/json"]?.schema;
  const choices = schema !== undefined && "anyOf" in schema ? (schema.anyOf ?? []) : [];
  if (choices.some((choice) => "type" in choice && choice.type === "null")) requestBody.required = false;
}

function nameStatuses({ responses = {} }: Operation): void {
  for (const [status, response] of Object.entries(responses)) {
    if ("$ref" in response || response.description !== "Default Response") continue;
    response.description =
      STATUS_CODES[status] ?? (status.startsWith("4") ? "The caller's mistake" : "The server's trouble");
  }
}

/** Every named schema is generated twice, as it is sent and as it is answered; few are both. */
function withoutUnused(document: Document): Document {
  const schemas = document.components?.schemas ?? {};
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, name = ""] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/([\w.-]+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      visit(schemas[name] ?? null);
    }
  };
  visit(document.paths ?? null);
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(kept) } };
}
