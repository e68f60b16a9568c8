// Every operation of the OpenAPI document, called in order: each answer is one that the document promises, by status,
// content type and schema. A route that is added without an example fails the first test.

import { afterAll, beforeAll, expect, test } from "vitest";
import { isOpen, isStream, type Answer, type Operation } from "../../support/server/openapi-document.ts";
import { API } from "../../support/server/walk-example.ts";
import { EXAMPLES, startWalker, unknownUrl, type Walker } from "../../support/server/walker.ts";

let walker: Walker;

beforeAll(async () => {
  walker = await startWalker();
});
afterAll(() => walker.stop());

/** A stream has no end: its head, and its first event. */
async function streamed(url: string): Promise<Answer> {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${walker.walk.admin}`, accept: "text/event-stream" };
  const response = await fetch(`${walker.walk.url}${url}`, { headers, signal: stop.signal });
  let body = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body!) {
    body += decoder.decode(chunk, { stream: true });
    if (/^data: .*\n\n/m.test(body)) break;
  }
  stop.abort();
  return {
    statusCode: response.status,
    headers: { "content-type": response.headers.get("content-type") },
    body,
  };
}

test("ROLL-18: every operation has an example, and every example an operation", () => {
  const names = walker.operations.map(({ name }) => name);
  expect(Object.keys(EXAMPLES).toSorted()).toEqual(names.toSorted());
});

test("ROLL-18: a call in order sends what the document asks for, and is answered as it says", async () => {
  const expected = new Map<Operation, number>();
  const sent: string[] = [];
  const found = await walker.problems(
    walker.operations,
    (operation) => expected.get(operation)!,
    async (operation) => {
      const { url, payload, headers, status, call = walker.walk.call } = await walker.exampleOf(operation);
      expected.set(operation, status);
      if (payload !== undefined) sent.push(...walker.judge.bodyProblems(operation, payload));
      if (isStream(operation)) return streamed(url);
      return call(operation.method, url, {
        ...(isOpen(operation) ? {} : { token: walker.walk.admin }),
        ...(payload === undefined ? {} : { payload }),
        ...(headers === undefined ? {} : { headers }),
      });
    },
  );
  expect([...sent, ...found]).toEqual([]);
});

test("ROLL-18: a stream's first message has the event's id and kind beside its data", async () => {
  for (const operation of walker.operations.filter(isStream)) {
    const { body } = await streamed((await walker.exampleOf(operation)).url);
    const [, data = "{}"] = /^data: (.*)$/m.exec(body) ?? [];
    const { id, kind } = JSON.parse(data) as { id: number; kind: string };
    expect(body).toMatch(new RegExp(`^id: ${id}$`, "m"));
    expect(body).toMatch(new RegExp(`^event: ${kind}$`, "m"));
  }
});

test("ROLL-18: without a token the answer is 401, with one without scope 403", async () => {
  const { walk, operations, problems, send } = walker;
  const closed = operations.filter((operation) => !isOpen(operation));
  const bare = (operation: Operation) => walk.call(operation.method, unknownUrl(operation));
  expect(await problems(closed, 401, bare)).toEqual([]);
  const scoped = closed.filter(({ path }) => path !== `${API}/whoami`);
  const powerless = (operation: Operation) => send(operation, unknownUrl(operation), { token: walk.nobody });
  expect(await problems(scoped, 403, powerless)).toEqual([]);
});

test("ROLL-18: operations that are open to strangers are these, and no others", () => {
  expect(walker.operations.filter(isOpen).map(({ name }) => name)).toEqual([
    `POST ${API}/auth/token`,
    `POST ${API}/auth/session`,
    `DELETE ${API}/auth/session`,
    `POST ${API}/bootstrap`,
    `POST ${API}/bootstrap/trust-bundle`,
    `GET ${API}/schemas/upgrade-manifest.json`,
  ]);
});
