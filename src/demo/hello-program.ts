/**
 * A small real program for the demo and the tests: answers over HTTP which version and instance it is.
 * Pure text, one executable script. Its first line keeps Node from resolving the descriptor it is run from back to
 * a path, so that the bytes that were verified are the bytes that run.
 *
 * Environment: PORT; COUNTER_FILE gets a line with the instance id at each start; HEALTH=degraded answers 503,
 * HEALTH=silent answers nothing; CRASH=start exits at once, CRASH=<ms> after that time; IGNORE_SIGTERM=1 stays.
 */
export const helloProgram = (version: string): string => `#!/usr/bin/env -S node --preserve-symlinks-main
"use strict";
const { appendFileSync } = require("node:fs");
const { createServer } = require("node:http");
const VERSION = ${JSON.stringify(version)};
const { env, pid } = process;
const instance = env.FAIRLEAD_INSTANCE_ID ?? null;

if (env.COUNTER_FILE) appendFileSync(env.COUNTER_FILE, instance + " " + VERSION + "\\n");
console.log("hello " + VERSION + " starts as " + instance);
if (env.CRASH === "start") process.exit(7);
if (env.CRASH) setTimeout(() => process.exit(7), Number(env.CRASH));

const answers = {
  "/version": () => ({ version: VERSION, instance_id: instance, pid }),
  "/healthz": () => ({ status: env.HEALTH ?? "ok", sync_status: env.SYNC_STATUS ?? "synced" }),
};
const server = createServer((request, response) => {
  const answer = answers[request.url];
  if (request.url === "/healthz" && env.HEALTH === "silent") return;
  const status = answer === undefined ? 404 : request.url === "/healthz" && env.HEALTH === "degraded" ? 503 : 200;
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(answer === undefined ? { error: "not found" } : answer()));
});
if (env.PORT) server.listen(Number(env.PORT), "127.0.0.1");
else setInterval(() => undefined, 60_000);
process.on("SIGTERM", () => {
  if (env.IGNORE_SIGTERM) return;
  process.exit(0);
});
`;
