import { expect, test } from "vitest";
import { FairleadError } from "../../../src/core/errors.ts";
import { createLogger, type LogFields, type LogLevel } from "../../../src/host/log.ts";

function logged(fields: LogFields, message = "hello", level: LogLevel = "info"): Record<string, unknown>[] {
  const lines: string[] = [];
  createLogger({ level, now: () => 0, write: (line) => lines.push(line) }).info(message, fields);
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a line is one JSON object with time, level, message and fields", () => {
  expect(logged({ node: "n1", count: 2 })).toEqual([
    { time: "1970-01-01T00:00:00.000Z", level: "info", msg: "hello", node: "n1", count: 2 },
  ]);
});

test("levels below the set one are not written, and a child adds its fields", () => {
  const lines: string[] = [];
  const log = createLogger({ level: "warn", now: () => 0, write: (line) => lines.push(line) }).child({
    part: "api",
  });
  log.debug("no");
  log.info("no");
  log.warn("yes", { more: 1 });
  log.error("yes");
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[0] ?? "")).toMatchObject({ part: "api", more: 1, level: "warn" });
});

test.each([
  ["token"],
  ["access_token"],
  ["apiKey"],
  ["X-API-Key"],
  ["authorization"],
  ["private_key"],
  ["privateKeyPem"],
  ["PASSWORD"],
  ["set-cookie"],
  ["client_secret"],
])("the value under %s is hidden, at any depth", (name) => {
  const line = JSON.stringify(logged({ [name]: "hunter2", deep: [{ [name]: { inner: "hunter2" } }] }));
  expect(line).not.toContain("hunter2");
  expect(line).toContain("[redacted]");
});

test.each([
  ["Authorization: Bearer abcdefgh12345678"],
  ["postgres://fairlead:abcdefgh12345678@db/fairlead"],
  ["token fl1.cluster.pin.pin.abcdefgh12345678"],
  ["the key flk_abcdefgh12345678 is refused"],
  ["-----BEGIN PRIVATE KEY-----\nabcdefgh12345678\n-----END PRIVATE KEY-----"],
  ["eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ4In0.abcdefgh12345678"],
])("a secret known by its form is hidden in messages, fields and errors: %j", (text) => {
  expect(JSON.stringify(logged({ note: text }, text))).not.toContain("abcdefgh12345678");
  expect(JSON.stringify(logged({ error: new Error(text) }))).not.toContain("abcdefgh12345678");
});

test("what is no secret stays: a name, a digest, an address, a flag", () => {
  const fields = {
    node: "n1",
    digest: `sha256:${"a".repeat(64)}`,
    url: "https://host:8443/x",
    token_expired: true,
  };
  expect(logged(fields)[0]).toMatchObject(fields);
});

test("an error keeps its code, detail and cause", () => {
  const error = new FairleadError("DISK_FULL", "no space", { path: "/x" }, new Error("ENOSPC"));
  expect(logged({ error })[0]).toMatchObject({
    error: { code: "DISK_FULL", message: "no space", detail: { path: "/x" }, cause: { message: "ENOSPC" } },
  });
});

test("what cannot be written as JSON does not throw, and a huge line is cut", () => {
  const circular: Record<string, unknown> = {};
  circular["self"] = circular;
  const throwing = Object.defineProperty({}, "bad", { enumerable: true, get: () => expect.unreachable() });
  expect(logged({ circular, big: 1n, bytes: Buffer.alloc(9), throwing })).toHaveLength(1);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`f${index}`, "x".repeat(4_000)]));
  expect(JSON.stringify(logged(many)[0]).length).toBeLessThan(40_000);
});
