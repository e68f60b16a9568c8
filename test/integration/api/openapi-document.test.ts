// The OpenAPI document itself: whole, named, and saying something everywhere.

import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OpenApi } from "../../support/server/openapi-document.ts";
import { anythingIn, nameProblems, OPENAPI_3_1 } from "../../support/server/openapi-shape.ts";
import { API } from "../../support/server/walk-example.ts";
import { startWalker, type Walker } from "../../support/server/walker.ts";

let walker: Walker;

beforeAll(async () => {
  walker = await startWalker();
});
afterAll(() => walker.stop());

test("ROLL-18: it is OpenAPI 3.1, and every operation has a summary, a tag and a name of its own", () => {
  const { document, operations } = walker;
  const fits = new Ajv2020({ strictTypes: false, allErrors: true }).compile(OPENAPI_3_1);
  fits(document);
  expect(fits.errors).toBeNull();
  expect(operations.filter(({ operationId }) => operationId === undefined)).toEqual([]);
  expect(nameProblems(operations)).toEqual([]);
  const [first] = operations;
  expect(nameProblems([...operations, { ...first!, name: "again", path: "/{id}" }])).toHaveLength(2);
  expect(fits({ ...document, paths: { "/x": { get: { responses: {} } } } })).toBe(false);
});

test("ROLL-18: every schema in it compiles, and whatever it refers to is there", () => {
  const { document, operations, judge } = walker;
  const names = Object.keys(document.components.schemas);
  for (const name of names) judge.schemaAt("components", "schemas", name);
  for (const { path, method, parameters = [], requestBody, responses } of operations) {
    const at = ["paths", path, method.toLowerCase()];
    for (const place of parameters.keys()) judge.schemaAt(...at, "parameters", String(place), "schema");
    for (const type of Object.keys(requestBody?.content ?? {}))
      judge.schemaAt(...at, "requestBody", "content", type, "schema");
    for (const [status, { content = {} }] of Object.entries(responses))
      for (const type of Object.keys(content))
        judge.schemaAt(...at, "responses", status, "content", type, "schema");
  }
  const text = JSON.stringify(document);
  expect(names.filter((name) => !text.includes(`"#/components/schemas/${name}"`))).toEqual([]);
  expect(() => judge.schemaAt("components", "schemas", "NoSuchView")).toThrow(/NoSuchView/);
});

test("ROLL-18: nothing in it lets anything through but what is free by its nature", () => {
  const { document } = walker;
  expect(anythingIn(document)).toEqual([
    "ErrorResponse.error.detail.additionalProperties",
    "EventView.data.additionalProperties",
    "IncidentView.detail.additionalProperties",
    `get ${API}/schemas/upgrade-manifest.json.additionalProperties`,
  ]);
  const components = { schemas: { View: { type: "object", properties: { id: {} } } } };
  expect(anythingIn({ ...document, components, paths: {} } satisfies OpenApi)).toEqual(["View.id"]);
});

test("an answer that the document does not promise is a problem", async () => {
  const { judge, operations, exampleOf, send } = walker;
  const node = operations.find(({ name }) => name === `GET ${API}/nodes/{id}`)!;
  const good = await send(node, (await exampleOf(node)).url);
  expect(judge.problemsOf(node, good)).toEqual([]);
  const { headers, body } = good;
  const spoilt = [
    { statusCode: 200, headers, body: body.replace('"active"', '"asleep"') },
    { statusCode: 200, headers, body: body.replace('"name"', '"named"') },
    { statusCode: 204, headers, body: "" },
    { statusCode: 404, headers, body },
    { statusCode: 200, headers: { "content-type": "text/html" }, body },
  ];
  for (const answer of spoilt) expect(judge.problemsOf(node, answer)).toHaveLength(1);
  const grant = operations.find(({ name }) => name === `POST ${API}/grants`)!;
  expect(judge.bodyProblems(grant, { issuer: "i", subject: "s", scopes: ["root"] })).toHaveLength(1);
});
