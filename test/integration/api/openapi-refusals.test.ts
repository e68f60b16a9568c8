// Every operation of the OpenAPI document, called out of order: what is refused is refused as the document says.

import { afterAll, beforeAll, expect, test } from "vitest";
import { parametersOf, type Operation } from "../../support/server/openapi-document.ts";
import { errorOf } from "../../support/server/operators-site.ts";
import { API } from "../../support/server/walk-example.ts";
import { startWalker, unknownFor, unknownUrl, type Walker } from "../../support/server/walker.ts";

let walker: Walker;
let withPath: Operation[];
let withBody: Operation[];

beforeAll(async () => {
  walker = await startWalker();
  withPath = walker.operations.filter((operation) => parametersOf(operation, "path").length > 0);
  withBody = walker.operations.filter(({ requestBody }) => requestBody !== undefined);
});
afterAll(() => walker.stop());

/** One call for each part of each path, with only this part in another's place. */
async function eachPart(
  chosen: readonly Operation[],
  status: number,
  value: (operation: Operation, name: string) => string,
): Promise<string[]> {
  const { exampleOf, problems, send } = walker;
  const found: string[] = [];
  for (const operation of chosen) {
    const { url, payload } = await exampleOf(operation);
    for (const { name } of parametersOf(operation, "path")) {
      const at = operation.path.split("/").indexOf(`{${name}}`);
      const astray = url.split("?")[0]!.split("/").with(at, value(operation, name)).join("/");
      const ask = () => send(operation, astray, payload === undefined ? {} : { payload });
      found.push(...(await problems([operation], status, ask)));
    }
  }
  return found;
}

test("ROLL-18: an id of nothing is 404, but for names that a PUT makes", async () => {
  const makes = /^PUT .*\/model\//;
  const lookedUp = withPath.filter(({ name }) => !makes.test(name));
  expect(await eachPart(lookedUp, 404, unknownFor)).toEqual([]);
});

test("ROLL-18: an id that is none is 400", async () => {
  expect(await eachPart(withPath, 400, () => "%21")).toEqual([]);
});

test("ROLL-18: a query that is unknown or out of bounds is 400", async () => {
  const { operations, problems, send } = walker;
  const asking = operations.filter((operation) => parametersOf(operation, "query").length > 0);
  const unknown = (operation: Operation) => send(operation, `${unknownUrl(operation)}?nonsense=1`);
  expect(await problems(asking, 400, unknown)).toEqual([]);
  for (const operation of asking) {
    for (const { name } of parametersOf(operation, "query")) {
      const query = new URLSearchParams({ [name]: "! ".repeat(600) });
      const ask = () => send(operation, `${unknownUrl(operation)}?${query}`);
      expect(await problems([operation], 400, ask)).toEqual([]);
    }
  }
});

test("ROLL-18: a header that is out of bounds is 400", async () => {
  const { operations, problems, send } = walker;
  const keyed = operations.filter((operation) => parametersOf(operation, "header").length > 0);
  const ask = (operation: Operation) => {
    const headers = Object.fromEntries(parametersOf(operation, "header").map(({ name }) => [name, "?"]));
    return send(operation, unknownUrl(operation), { headers });
  };
  expect(await problems(keyed, 400, ask)).toEqual([]);
});

test.each([
  ["has a field that is not known", { nonsense: 1 }, "application/json"],
  ["is a list", [], "application/json"],
  ["is no JSON", '{"a":', "application/json"],
  ["has a poisoned name in it", '{"__proto__":{"admin":true}}', "application/json"],
  ["is of another content type", "a=b", "application/x-www-form-urlencoded"],
  ["says it is text", "{}", "text/plain"],
])("ROLL-18: a body that %s is 400", async (_what, payload, type) => {
  const headers = { "content-type": type };
  const ask = (operation: Operation) => walker.send(operation, unknownUrl(operation), { payload, headers });
  expect(await walker.problems(withBody, 400, ask)).toEqual([]);
});

test("ROLL-18: a body may be left out exactly where the document says so", async () => {
  const { exampleOf, problems, send } = walker;
  const required = withBody.filter(({ requestBody }) => requestBody!.required === true);
  expect(await problems(required, 400, (operation) => send(operation, unknownUrl(operation)))).toEqual([]);
  const optional = withBody.filter(({ requestBody }) => requestBody!.required !== true);
  const bare = async (operation: Operation) => send(operation, (await exampleOf(operation)).url);
  expect(await problems(optional, /^20[02]$/, bare)).toEqual([]);
});

test("ROLL-18: a body beyond its bound is 413, and an address that is none is 404", async () => {
  const { problems, send, judge, walk } = walker;
  const payload = `{"reason":"${"x".repeat(3 * 1024 * 1024)}"}`;
  const headers = { "content-type": "application/json" };
  const large = (operation: Operation) => send(operation, unknownUrl(operation), { payload, headers });
  expect(await problems(withBody, 413, large)).toEqual([]);
  const nowhere = await walk.call("GET", `${API}/nonsense`, { token: walk.admin });
  expect([nowhere.statusCode, errorOf(nowhere).code]).toEqual([404, "NOT_FOUND"]);
  expect(judge.schemaAt("components", "schemas", "ErrorResponse")(nowhere.json())).toBe(true);
});
