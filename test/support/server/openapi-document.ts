// The OpenAPI document as a caller reads it: its operations, and whether an answer is one that it promises.

import addFormats from "ajv-formats";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import type { Method } from "./operators-site.ts";

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly required?: boolean;
  readonly schema: object;
}
type Content = Readonly<Record<string, { readonly schema: object }>>;

export interface OperationObject {
  readonly summary?: string;
  readonly tags?: readonly string[];
  readonly operationId?: string;
  readonly security?: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

export interface Operation extends OperationObject {
  /** `GET /api/v1/nodes/{id}` */
  readonly name: string;
  readonly method: Method;
  readonly path: string;
}

export const operationsOf = ({ paths }: OpenApi): Operation[] =>
  Object.entries(paths)
    .filter(([path]) => path.startsWith("/api/"))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([verb, operation]) => {
        const method = verb.toUpperCase() as Method;
        return { ...operation, method, path, name: `${method} ${path}` };
      }),
    );

export const parametersOf = ({ parameters = [] }: Operation, where: Parameter["in"]): Parameter[] =>
  parameters.filter((parameter) => parameter.in === where);

export const isOpen = ({ security }: Operation): boolean => security?.length === 0;
export const isStream = ({ responses }: Operation): boolean =>
  responses["200"]?.content?.["text/event-stream"] !== undefined;

export interface Answer {
  readonly statusCode: number;
  readonly headers: { readonly "content-type"?: unknown };
  readonly body: string;
}

export interface Judge {
  /** Compiles the schema at this place of the document; throws when it is none, or refers to nothing. */
  schemaAt(...place: string[]): ValidateFunction;
  /** What the document does not ask for in this body. */
  bodyProblems(operation: Operation, payload: object): string[];
  /** What the document does not promise about this answer. */
  problemsOf(operation: Operation, answer: Answer): string[];
}

const ROOT = "openapi.json";
const JSON_TYPE = "application/json";
/** Formats of zod's own: a pattern beside each says what it is. */
const PATTERNED = ["base64", "cidrv4", "cidrv6"];
const NOT_SCHEMAS = ["openapi", "info", "paths", "components", "security"];

export function judgeBy(document: OpenApi): Judge {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addVocabulary(NOT_SCHEMAS);
  for (const format of PATTERNED) ajv.addFormat(format, true);
  ajv.addSchema(document, ROOT);
  const compiled = new Map<string, ValidateFunction>();

  function schemaAt(...place: string[]): ValidateFunction {
    const pointer = place.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"));
    const $ref = `${ROOT}#/${pointer.map(encodeURIComponent).join("/")}`;
    const known = compiled.get($ref) ?? ajv.compile({ $ref });
    compiled.set($ref, known);
    return known;
  }

  function bodyProblems({ name, method, path }: Operation, payload: object): string[] {
    const fits = schemaAt("paths", path, method.toLowerCase(), "requestBody", "content", JSON_TYPE, "schema");
    return fits(payload) ? [] : [`${name}: ${ajv.errorsText(fits.errors)} in what is sent`];
  }

  function problemsOf({ name, method, path, responses }: Operation, answer: Answer): string[] {
    const { statusCode, headers, body } = answer;
    const said = (text: string): string[] => [`${name} → ${statusCode}: ${text}`];
    const status = [String(statusCode), `${String(statusCode)[0]}XX`].find((key) => responses[key]);
    if (status === undefined) return said(`is not documented; its body is ${body}`);
    const { content } = responses[status]!;
    if (content === undefined) return body === "" ? [] : said(`has a body that is not documented: ${body}`);
    const type = String(headers["content-type"]).split(";")[0]!;
    if (content[type] === undefined) return said(`is ${type}, documented is ${Object.keys(content).join()}`);
    const fits = schemaAt(
      "paths",
      path,
      method.toLowerCase(),
      "responses",
      status,
      "content",
      type,
      "schema",
    );
    if (fits(type === "text/event-stream" ? dataOf(body) : JSON.parse(body))) return [];
    return said(`${ajv.errorsText(fits.errors)} in ${body}`);
  }

  return { schemaAt, bodyProblems, problemsOf };
}

/** The data of the first event of a stream. */
function dataOf(stream: string): unknown {
  const [, data] = /^data: (.*)$/m.exec(stream) ?? [];
  if (data === undefined) throw new Error(`no event in ${stream}`);
  return JSON.parse(data);
}
