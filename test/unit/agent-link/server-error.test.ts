import { expect, test } from "vitest";
import { retryAfterMs, serverError } from "../../../src/agent/link/server-error.ts";

const answer = (body: string, status = 409) => ({ status, headers: {}, body: Buffer.from(body) });

test("a refusal of the server keeps its code, its message and its status", () => {
  const body = JSON.stringify({ error: { code: "STATE_MOVED", message: "it moved" } });
  expect(serverError(answer(body))).toMatchObject({
    code: "STATE_MOVED",
    message: "it moved",
    detail: { status: 409 },
  });
});

test("a message of the server is cut at 300 characters", () => {
  const messageOf = (length: number) =>
    serverError(answer(JSON.stringify({ error: { message: "x".repeat(length) } }))).message;
  expect(messageOf(300)).toHaveLength(300);
  expect(messageOf(301)).toBe("x".repeat(300));
});

test.each([
  ["no JSON", "<html>"],
  ["no error", "{}"],
  ["null", "null"],
  ["an error without code and message", '{"error":{}}'],
  ["a code that is not ours", '{"error":{"code":"SOMETHING_NEW"}}'],
  ["a message that is no text", '{"error":{"code":7,"message":{}}}'],
])("an answer with %s is UNREACHABLE, with the status as its message", (_, body) => {
  const message = "the server answered 502";
  expect(serverError(answer(body, 502))).toMatchObject({ code: "UNREACHABLE", message });
});

test.each<[string, number, string | undefined, number]>([
  ["the seconds of a 429", 429, "7", 7_000],
  ["zero seconds", 429, "0", 0],
  ["at most a minute", 429, "61", 60_000],
  ["nothing below zero", 429, "-1", 0],
  ["nothing for a date", 429, "Wed, 21 Oct 2026 07:28:00 GMT", 0],
  ["nothing without the header", 429, undefined, 0],
  ["nothing for another status", 503, "7", 0],
])("Retry-After asks for %s", (_, status, value, expected) => {
  const headers = value === undefined ? {} : { "retry-after": value };
  expect(retryAfterMs({ status, headers })).toBe(expected);
});
