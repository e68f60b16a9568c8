// What an OpenAPI 3.1 document must be, beyond its schemas: as a JSON Schema, and as rules that none can say.

import type { OpenApi, Operation } from "./openapi-document.ts";

const text = { type: "string", minLength: 1 };
const content = {
  type: "object",
  minProperties: 1,
  additionalProperties: {
    type: "object",
    properties: { schema: { type: "object" } },
    required: ["schema"],
    additionalProperties: false,
  },
};
const parameter = {
  type: "object",
  properties: {
    name: text,
    in: { enum: ["path", "query", "header", "cookie"] },
    required: { type: "boolean" },
    description: text,
    schema: { type: "object" },
  },
  required: ["name", "in", "schema"],
  additionalProperties: false,
  anyOf: [
    { properties: { in: { enum: ["query", "header", "cookie"] } } },
    { properties: { required: { const: true } }, required: ["required"] },
  ],
};
const operation = {
  type: "object",
  properties: {
    summary: text,
    description: text,
    operationId: { type: "string", pattern: "^[a-z][A-Za-z0-9]+$" },
    tags: { type: "array", minItems: 1, items: text },
    security: { type: "array", items: { type: "object" } },
    parameters: { type: "array", items: parameter },
    requestBody: {
      type: "object",
      properties: { required: { type: "boolean" }, description: text, content },
      required: ["content", "required"],
      additionalProperties: false,
    },
    responses: {
      type: "object",
      minProperties: 1,
      additionalProperties: false,
      patternProperties: {
        "^[1-5](\\d\\d|XX)$": {
          type: "object",
          properties: { description: { ...text, not: { const: "Default Response" } }, content },
          required: ["description"],
          additionalProperties: false,
        },
      },
    },
  },
  required: ["summary", "tags", "responses"],
  additionalProperties: false,
};

export const OPENAPI_3_1 = {
  type: "object",
  properties: {
    openapi: { type: "string", pattern: "^3\\.1\\.\\d+$" },
    info: {
      type: "object",
      properties: { title: text, version: text, description: text },
      required: ["title", "version"],
      additionalProperties: false,
    },
    paths: {
      type: "object",
      additionalProperties: false,
      patternProperties: {
        "^/": {
          type: "object",
          additionalProperties: false,
          patternProperties: { "^(get|put|post|delete|patch)$": operation },
        },
      },
    },
    components: {
      type: "object",
      properties: {
        schemas: { type: "object", propertyNames: { pattern: "^[A-Za-z0-9._-]+$" } },
        securitySchemes: { type: "object", additionalProperties: { type: "object", required: ["type"] } },
      },
      additionalProperties: false,
    },
    security: { type: "array", items: { type: "object" } },
  },
  required: ["openapi", "info", "paths", "components", "security"],
  additionalProperties: false,
};

/** Names that are given twice, or that a path and its parameters do not share. */
export function nameProblems(operations: readonly Operation[]): string[] {
  const ids = operations.map(({ operationId }) => operationId);
  const twice = operations.filter(({ operationId }, at) => ids.indexOf(operationId) !== at);
  const astray = operations.filter(({ path, parameters = [] }) => {
    const declared = parameters.filter(({ in: where }) => where === "path").map(({ name }) => `{${name}}`);
    return declared.toSorted().join() !== (path.match(/\{\w+\}/g) ?? []).toSorted().join();
  });
  return [
    ...twice.map(({ name, operationId }) => `${name}: ${operationId} is taken`),
    ...astray.map(({ name }) => `${name}: its path names other parameters than it declares`),
  ];
}

const MAPS = ["properties", "$defs", "patternProperties"];
const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const ONES = ["items", "additionalProperties", "not", "propertyNames"];

/** Places in the document where a schema lets anything through. */
export function anythingIn(document: OpenApi): string[] {
  const found: string[] = [];
  function look(schema: unknown, place: string): void {
    if (schema === false || schema === undefined) return;
    if (schema === true || Object.keys(schema as object).length === 0) return void found.push(place);
    const part = schema as Record<string, Record<string, unknown>>;
    for (const key of ONES) look(part[key], `${place}.${key}`);
    for (const key of [...MAPS, ...LISTS])
      for (const [name, inner] of Object.entries(part[key] ?? {})) look(inner, `${place}.${name}`);
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) look(schema, name);
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, { parameters = [], requestBody, responses }] of Object.entries(methods)) {
      for (const { name, schema } of parameters) look(schema, `${method} ${path} ${name}`);
      for (const { content } of [requestBody, ...Object.values(responses)].filter(
        (body) => body !== undefined,
      ))
        for (const { schema } of Object.values(content ?? {})) look(schema, `${method} ${path}`);
    }
  return found;
}
