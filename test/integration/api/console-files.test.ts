// The console's files, as the server hands them out.

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestDatabases, type TestDatabases } from "../../support/database.ts";
import { makeSite, startOperators, type Site } from "../../support/server/site.ts";

let databases: TestDatabases;
let site: Site;
let app: FastifyInstance;
let folder: string;

beforeAll(async () => {
  databases = await startTestDatabases();
  const { db } = await databases.fresh();
  site = await makeSite(db);
  folder = await mkdtemp(join(tmpdir(), "fairlead-console-"));
  await mkdir(join(folder, "console/assets"), { recursive: true });
  await writeFile(join(folder, "console/index.html"), "<!doctype html><title>Fairlead</title>");
  await writeFile(join(folder, "console/assets/app-abc.js"), "export {};");
  await writeFile(join(folder, "secret.txt"), "secret");
  app = await startOperators(db, site, { consoleDir: join(folder, "console") });
});
afterAll(async () => {
  await app.close();
  await site.remove();
  await rm(folder, { recursive: true });
  await databases.stop();
});

test.each(["/", "/rollouts/123", "/nodes?x=1"])(
  "%s is the console's page, and is asked for anew each time",
  async (url) => {
    const answer = await app.inject({ url });
    expect([answer.statusCode, answer.body]).toEqual([200, "<!doctype html><title>Fairlead</title>"]);
    expect(answer.headers["content-type"]).toContain("text/html");
    expect(answer.headers["cache-control"]).toBe("no-cache");
    expect(answer.headers["content-security-policy"]).toContain("default-src 'self'");
  },
);

test("a built file is kept by the browser for good", async () => {
  const answer = await app.inject({ url: "/assets/app-abc.js" });
  expect(answer.headers["cache-control"]).toContain("immutable");
  expect(answer.headers["content-type"]).toContain("javascript");
});

test.each(["/api/v1/nowhere", "/api", "/assets/missing.js"])("%s is an error and no page", async (url) => {
  const answer = await app.inject({ url });
  expect([answer.statusCode, answer.json<{ error: { code: string } }>().error.code]).toEqual([
    404,
    "NOT_FOUND",
  ]);
});

test.each(["/../secret.txt", "/%2e%2e/secret.txt", "/assets/..%2f..%2fsecret.txt", "/%2e%2e%2fsecret.txt"])(
  "%s does not leave the folder",
  async (url) => {
    expect((await app.inject({ url })).body).not.toContain("secret\n");
    expect((await app.inject({ url })).body).not.toBe("secret");
  },
);
